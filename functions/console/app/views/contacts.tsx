import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { Contact } from "../../../../shared/contract/contacts.ts";
import { api } from "../api.ts";
import { ContactFields, contactOf, emptyContact } from "../parts/contact-fields.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { Form, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

/** What a contact is called: their name, or where there is none their number. */
export function nameOf({ firstName = "", lastName = "", phoneNumber }: Contact): string {
  return `${firstName} ${lastName}`.trim() || phoneNumber;
}

/** Tags, each apart from the next. */
export function TagList({ tags }: { tags: readonly string[] }): JSX.Element {
  return (
    <span class="tags">
      {tags.map((tag) => (
        <span key={tag} class="tag" dir="auto">
          {tag}
        </span>
      ))}
    </span>
  );
}

/** The people to write to. */
export function Contacts(): JSX.Element {
  const contacts = usePages(async (query) => api().listContacts({ query }), []);
  const isAdding = useSignal(false);
  const add = (
    <button type="button" onClick={() => (isAdding.value = true)}>
      Add contact
    </button>
  );
  return (
    <Page
      title="Contacts"
      actions={
        <>
          {add}
          <a class="button primary" href="#/contacts/import">
            Import contacts
          </a>
        </>
      }
    >
      {isAdding.value ? (
        <NewContact
          onClose={() => (isAdding.value = false)}
          onCreated={async () => {
            isAdding.value = false;
            announce("Contact added.");
            await contacts.reload();
          }}
        />
      ) : null}
      <Section
        title={contacts.data === undefined ? "Contacts" : countText(contacts.data.total, "contact")}
        actions={<a href="#/opt-outs">Opt-outs</a>}
      >
        <PagedTable
          caption="Contacts, newest first"
          pages={contacts}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Name",
              show: (contact) => (
                <a class="clamp" dir="auto" href={`#/contacts/${contact.id}`}>
                  {nameOf(contact)}
                </a>
              ),
            },
            { title: "Phone number", show: ({ phoneNumber }) => phoneNumber },
            { title: "Tags", show: ({ tags }) => <TagList tags={tags} /> },
            { title: "Marketing", show: ({ optedOut }) => (optedOut ? "Opted out" : "") },
            { title: "Added", show: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            <Empty title="No contacts yet">
              <p>
                Import contacts from a spreadsheet or add them one at a time. Campaigns are sent to contacts.
              </p>
              {add}
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

function NewContact({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: () => Promise<void>;
}): JSX.Element {
  const create = async (values: typeof emptyContact): Promise<void> => {
    await api().createContact({ body: contactOf(values) });
    await onCreated();
  };
  const form = useForm(emptyContact, create, { draft: "contact" });
  return (
    <Dialog title="New contact" onClose={onClose}>
      <Form form={form} action="Add contact">
        <ContactFields form={form} />
      </Form>
    </Dialog>
  );
}
