import type { Contact } from "../../../../shared/api/contract/contacts.ts";
import { api } from "../api.ts";
import { ContactFields, contactOf, emptyContact, nameOf, TagList } from "../parts/contact-fields.tsx";
import { ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { ExportButton } from "../parts/export.tsx";
import { filtersIn, isFiltered } from "../parts/filter-form.tsx";
import { Form, SelectField, TextField, useForm } from "../parts/form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages, type Pages } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { LinkButton } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { Clamped } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { FieldProblem } from "../problems.ts";
import { rememberList, type ViewProps } from "../router.ts";
import { tagsOf } from "../typed.ts";
import { untag } from "../untag.ts";

/** Contacts, newest first, filtered by the query. */
export function Contacts({ query }: ViewProps) {
  rememberList("contacts");
  const filters = filtersIn(query, {
    search: { label: "Name or number", type: "search" },
    tag: { label: "Tag" },
  });
  const contacts = usePages(
    async (page) => api().listContacts({ query: { ...page, ...filters.values } }),
    Object.values(filters.values),
  );
  const add = (
    <DialogButton label="Add contact" title="New contact" look="plain" onDone={contacts.reload}>
      {(done) => <NewContact onCreated={done} />}
    </DialogButton>
  );
  return (
    <ListView
      title="Contacts"
      actions={
        <>
          {add}
          <LinkButton href="#/contacts/import" label="Import contacts" look="primary" />
        </>
      }
      heading={
        contacts.data === undefined || isFiltered(filters)
          ? "Contacts"
          : countText(contacts.data.meta.total, "contact")
      }
      listActions={
        <div class="row">
          <DialogButton label="Tag these" title="Tag contacts" look="small" onDone={contacts.reload}>
            {(done) => <TagMany contacts={contacts} onDone={done} />}
          </DialogButton>
          {isFiltered(filters) ? <DeleteMany contacts={contacts} /> : null}
          <ExportButton body={{ contacts: filters.values }} />
          <a href="#/opt-outs">Opt-outs</a>
        </div>
      }
      filters={filters}
      pages={contacts}
      columns={{
        Name: (contact) => <Clamped href={`#/contacts/${contact.id}`}>{nameOf(contact)}</Clamped>,
        "Phone number": ({ phoneNumber }) => numberText(phoneNumber),
        Tags: ({ tags }) => <TagList tags={tags} />,
        Marketing: ({ optedOut }) => (optedOut ? "Opted out" : ""),
        Added: ({ createdAt }) => <Time at={createdAt} />,
      }}
      empty={
        isFiltered(filters)
          ? { title: "No contacts match", action: <a href="#/contacts">Show all contacts</a> }
          : {
              title: "No contacts yet",
              hint: "Import contacts from a spreadsheet or add them one at a time. Campaigns are sent to contacts.",
              action: add,
            }
      }
    />
  );
}

/** The contacts of one import. */
const blockSize = 1_000;

/** Adds a tag to all contacts of the list, also to those that are not loaded yet, or removes it from them. */
function TagMany({ contacts, onDone }: { contacts: Pages<Contact>; onDone: () => Promise<void> }) {
  const change = async ({ tag, what }: { tag: string; what: string }): Promise<void> => {
    const [name, ...others] = tagsOf(tag);
    if (name === undefined || others.length > 0) throw new FieldProblem("tag", "Enter one tag.");
    const isRemoved = what === "remove";
    const changed: Contact[] = [];
    for await (const contact of contacts.everyRow()) {
      if (contact.tags.includes(name) === isRemoved) changed.push(contact);
    }
    if (isRemoved) {
      for (const contact of changed) await untag(contact, name);
    } else {
      for (let start = 0; start < changed.length; start += blockSize) {
        const block = changed
          .slice(start, start + blockSize)
          .map(({ phoneNumber }) => ({ phoneNumber, tags: [name] }));
        const { totals } = await api().importContacts({ body: { contacts: block, onDuplicate: "update" } });
        if (totals.invalid > 0)
          throw new FieldProblem("tag", "The tag is not valid, or some contacts have too many tags already.");
      }
    }
    announce(`${countText(changed.length, "contact")} changed.`);
    await onDone();
  };
  const form = useForm({ tag: "", what: "add" }, change);
  return (
    <Form form={form} action="Change contacts">
      <TextField field={form.field("tag")} label="Tag" />
      <SelectField
        field={form.field("what")}
        label="Change"
        options={[
          ["add", "Add the tag to all contacts of the list"],
          ["remove", "Remove the tag from all contacts of the list"],
        ]}
      />
    </Form>
  );
}

/** Deletes all contacts that a filter finds, also those that are not loaded yet. */
function DeleteMany({ contacts }: { contacts: Pages<Contact> }) {
  const deleteAll = async (): Promise<void> => {
    const ids: string[] = [];
    for await (const { id } of contacts.everyRow()) ids.push(id);
    try {
      for (const id of ids) await api().deleteContact({ params: { id } });
      announce(`${countText(ids.length, "contact")} deleted.`);
    } finally {
      await contacts.reload();
    }
  };
  return (
    <ConfirmButton
      label="Delete these"
      question="Delete all contacts that the filter finds?"
      consequence="These are all of them, also those further down. Their messages and opt-outs stay."
      act={deleteAll}
    />
  );
}

function NewContact({ onCreated }: { onCreated: () => Promise<void> }) {
  const create = async (values: typeof emptyContact): Promise<void> => {
    await api().createContact({ body: await contactOf(values) });
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
