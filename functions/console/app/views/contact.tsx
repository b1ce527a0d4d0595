import type { Contact as ContactRecord } from "../../../../shared/api/contract/contacts.ts";
import { api } from "../api.ts";
import { ContactFields, contactOf, nameOf, valuesOf } from "../parts/contact-fields.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Form, useForm } from "../parts/form.tsx";
import { Loaded, useLoad, type Load } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";
import { Time } from "../parts/time.tsx";
import { go, linkBack, linkTo, type ViewProps } from "../router.ts";

export function Contact({ id }: ViewProps) {
  const load = useLoad(async () => api().getContact({ params: { id } }), [id]);
  return (
    <Page
      title={load.data === undefined ? "Contact" : nameOf(load.data)}
      back={[linkBack("contacts"), "Contacts"]}
      actions={
        <ConfirmButton
          look="plain"
          label="Delete"
          question="Delete this contact?"
          consequence="Your messages to this number are kept."
          act={async () => api().deleteContact({ params: { id } })}
          success="Contact deleted."
          onDone={() => go("contacts")}
        />
      }
    >
      <Loaded load={load}>
        {(contact) => (
          <div class="columns">
            <Section title="Details">
              <Edit contact={contact} load={load} />
            </Section>
            <Section title="Information">
              <Facts
                of={{
                  Messages: <a href={linkTo("messages", { search: contact.phoneNumber })}>View messages</a>,
                  Added: <Time at={contact.createdAt} />,
                  Updated: <Time at={contact.updatedAt} />,
                  ID: <code>{contact.id}</code>,
                }}
              />
            </Section>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Edit({ contact, load }: { contact: ContactRecord; load: Load<ContactRecord> }) {
  const form = useForm(valuesOf(contact), async (values) => {
    const { firstName, lastName, ...rest } = await contactOf(values);
    // An emptied field is cleared; an absent field would stay unchanged.
    const body = {
      ...rest,
      firstName: firstName ?? null,
      lastName: lastName ?? null,
      version: contact.version,
    };
    load.replace(await api().updateContact({ params: { id: contact.id }, body }));
    announce("Contact saved.");
  });
  return (
    <Form form={form} action="Save">
      <ContactFields form={form} />
    </Form>
  );
}
