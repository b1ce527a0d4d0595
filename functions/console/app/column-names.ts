/*
 * The names that people give the fields of their contacts, in the columns of spreadsheets and the placeholders of messages.
 */

/** The fields that each contact can have. `fullName` is a first name and a last name. */
export const fields = ["phoneNumber", "fullName", "firstName", "lastName", "tags", "optedOut"] as const;
export type Field = (typeof fields)[number];

/** Usual column names for each field, in letters without accents. The first pattern that matches a column counts. */
export const usualNames: readonly (readonly [Field | "skip", RegExp])[] = [
  // Columns about a number, and the times in an export of ours.
  [
    "skip",
    /(phone|tel|mobile|number)\w*(type|label|country|valid|ext|extension)$|fax|pager|^createdat$|^updatedat$/,
  ],
  ["phoneNumber", /mobil|^handy|^cell|celular|whatsapp|^gsm|^portable|^movil/],
  ["phoneNumber", /^(primary|main|contact|customer|client)?(phone|tel|fon|rufn|msisdn)|^telefo|^to$/],
  ["phoneNumber", /phone(number|value)?$|telefon|^(contact)?numb?er|^numero$|^nummer$/],
  ["firstName", /^(first|given|forename|vorname|prenom|nombre$|nome$)/],
  ["lastName", /^(last|family|surname|nachname|familienname|nom$|apellido|cognome|sobrenome)/],
  ["fullName", /^(name|fullname|patient|customer|client|contact|guest|member|kunde|gast|mitglied)(name)?$/],
  ["tags", /^(tag|group|list|label|gruppe)/],
  [
    "optedOut",
    /^(sms|text)?(optedout|optout|unsubscribed?)(at|on|date|time)?$|^dnc$|^donot(contact|call|text|sms)$|^abgemeldet/,
  ],
];

const maxNameLength = 100;

/** A name in small letters without accents, spaces and signs. */
export function plainName(name: string): string {
  return name
    .slice(0, maxNameLength)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, "");
}

/** The attribute name for a column: a letter, then up to 31 letters, digits and underscores. */
export function attributeName(column: string): string {
  return column
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replace(/^[^A-Za-z]+|_+$/g, "")
    .slice(0, 32)
    .replace(/_+$/, "");
}

/** The attribute names for all columns. The second column of a name is `City_2`. */
export function attributeNames(header: readonly string[]): string[] {
  const names = new Set<string>();
  return header.map((column) => {
    const name = attributeName(column);
    if (name === "") return name;
    let unused = name;
    for (let count = 2; names.has(unused); count += 1) unused = `${name.slice(0, 28)}_${count}`;
    names.add(unused);
    return unused;
  });
}
