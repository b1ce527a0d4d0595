import { api } from "../api.ts";
import { ContactFields, contactOf, emptyContact, nameOf, TagList } from "../parts/contact-fields.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { FilterForm } from "../parts/filter-form.tsx";
import { Form, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { LinkButton, Page, Section } from "../parts/page.tsx";
import { Clamped, PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { rememberList, type ViewProps } from "../router.ts";
import { given } from "../typed.ts";

/** Contacts, newest first, filtered by the query. */
export function Contacts({ query }: ViewProps) {
  rememberList("contacts");
  const [search = "", tag = ""] = ["search", "tag"].map((name) => query.get(name) ?? "");
  const contacts = usePages(
    async (page) => api().listContacts({ query: { ...page, search: given(search), tag: given(tag) } }),
    [search, tag],
  );
  const isFiltered = search !== "" || tag !== "";
  const add = (
    <DialogButton label="Add contact" title="New contact" look="plain" onDone={contacts.reload}>
      {(done) => <NewContact onCreated={done} />}
    </DialogButton>
  );
  return (
    <Page
      title="Contacts"
      actions={
        <>
          {add}
          <LinkButton href="#/contacts/import" label="Import contacts" look="primary" />
        </>
      }
    >
      <Section
        title={
          contacts.data === undefined || isFiltered
            ? "Contacts"
            : countText(contacts.data.meta.total, "contact")
        }
        actions={<a href="#/opt-outs">Opt-outs</a>}
      >
        <FilterForm view="contacts" query={{ search, tag }}>
          {(form) => (
            <>
              <TextField field={form.field("search")} label="Name or number" type="search" />
              <TextField field={form.field("tag")} label="Tag" />
            </>
          )}
        </FilterForm>
        <PagedTable
          caption="Contacts, newest first"
          pages={contacts}
          keyOf={({ id }) => id}
          columns={{
            Name: (contact) => <Clamped href={`#/contacts/${contact.id}`}>{nameOf(contact)}</Clamped>,
            "Phone number": ({ phoneNumber }) => phoneNumber,
            Tags: ({ tags }) => <TagList tags={tags} />,
            Marketing: ({ optedOut }) => (optedOut ? "Opted out" : ""),
            Added: ({ createdAt }) => <Time at={createdAt} />,
          }}
          empty={
            isFiltered
              ? { title: "No contacts match", action: <a href="#/contacts">Show all contacts</a> }
              : {
                  title: "No contacts yet",
                  hint: "Import contacts from a spreadsheet or add them one at a time. Campaigns are sent to contacts.",
                  action: add,
                }
          }
        />
      </Section>
    </Page>
  );
}

function NewContact({ onCreated }: { onCreated: () => Promise<void> }) {
  const create = async (values: typeof emptyContact): Promise<void> => {
    await api().createContact({ body: contactOf(values) });
    announce("Contact added.");
    await onCreated();
  };
  const form = useForm(emptyContact, create, { draft: "contact" });
  return (
    <Form form={form} action="Add contact">
      <ContactFields form={form} />
    </Form>
  );
}
