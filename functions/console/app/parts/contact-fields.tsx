import type { Contact } from "../../../../shared/api/contract/contacts.ts";
import { api } from "../api.ts";
import { FieldProblem } from "../problems.ts";
import { given, numberIn, tagsOf, typedForm } from "../typed.ts";
import type { FormState } from "./form-state.ts";
import { CheckField, TextArea, TextField } from "./form.tsx";
import { numberText, PhoneField } from "./phone.tsx";

export const emptyContact = {
  phoneNumber: "",
  firstName: "",
  lastName: "",
  tags: "",
  attributes: "",
  optedOut: false,
};

type ContactValues = typeof emptyContact;

/** The form values of a contact. */
export function valuesOf(contact: Contact): ContactValues {
  const { firstName = "", lastName = "", tags, attributes, optedOut } = contact;
  const phoneNumber = typedForm(contact.phoneNumber);
  const lines = Object.entries(attributes).map(([name, value]) => `${name}: ${value}`);
  return { phoneNumber, firstName, lastName, tags: tags.join(", "), attributes: lines.join("\n"), optedOut };
}

/** Converts form values into the API's fields. @throws FieldProblem */
export async function contactOf(values: ContactValues) {
  return {
    phoneNumber: await numberIn(values.phoneNumber, "phoneNumber"),
    firstName: given(values.firstName),
    lastName: given(values.lastName),
    tags: tagsOf(values.tags),
    attributes: attributesOf(values.attributes),
    optedOut: values.optedOut,
  };
}

function attributesOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = "", value = ""] = /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === "")
        throw new FieldProblem(
          "attributes",
          `Separate name and value with a colon, for example city: London. Check this line: ${line}`,
        );
      return [name, value];
    }),
  );
}

export function ContactFields({ form }: { form: FormState<ContactValues> }) {
  return (
    <>
      <PhoneField field={form.field("phoneNumber")} />
      <TextField field={form.field("firstName")} label="First name (optional)" />
      <TextField field={form.field("lastName")} label="Last name (optional)" />
      <TextField
        field={form.field("tags")}
        label="Tags (optional)"
        hint="Separate tags with commas, for example: customers, London."
      />
      <TextArea
        field={form.field("attributes")}
        label="Attributes (optional)"
        rows={3}
        hint="One per line, for example city: London. Use it in messages as {{city}}."
      />
      <CheckField
        field={form.field("optedOut")}
        label="Opted out of marketing"
        hint="Campaigns and marketing messages skip this contact."
      />
    </>
  );
}

/** The name of a contact, or the phone number if there is none. */
export function nameOf({ firstName = "", lastName = "", phoneNumber }: Contact): string {
  return `${firstName} ${lastName}`.trim() || numberText(phoneNumber);
}

/** Returns a few contacts whose names contain a text; none for a text without letters, which is a number. */
export async function contactsNamed(text: string): Promise<readonly Contact[]> {
  return /\p{L}/u.test(text) ? (await api().listContacts({ query: { search: text, limit: 5 } })).rows : [];
}

export function TagList({ tags }: { tags: readonly string[] }) {
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
