import * as z from "zod/mini";

/**
 * Returns an email address without the space that a keyboard appends, and with its domain as SMTP has it: `xn--bcher-kva.example`
 * for `bücher.example` (RFC 5890).
 */
export function asciiEmail(typed: string): string {
  const email = typed.trim();
  const [, name = "", domain = ""] = /^([^@]*)@([^\s@/:?#[\]\\]+)$/.exec(email) ?? [];
  // Only a domain beyond ASCII is converted: the others stay as they are, and are checked.
  const isAscii = /^[\x20-\x7e]*$/.test(domain);
  return isAscii ? email : `${name}@${URL.parse(`http://${domain}`)?.hostname ?? domain}`;
}

/**
 * An address with the characters of RFC 5322 before the @, but without the beginning of an encoded word, which programs could
 * read as another address. Its top-level domain may be one beyond ASCII, such as `xn--p1ai` for `рф`. RFC 5321 limits its length.
 */
const pattern =
  /^(?!\.)(?!.*\.\.)(?!.*=\?)[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]*[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]@([A-Za-z0-9][A-Za-z0-9-]*\.)+([A-Za-z]{2,}|xn--[A-Za-z0-9-]+)$/;

const rule = "must be an email address";

export const EmailAddress = z
  .string(rule)
  .check(
    z.overwrite(asciiEmail),
    z.maxLength(254, { abort: true }),
    z.regex(pattern, { error: rule, abort: true }),
    z.meta({ format: "email" }),
  )
  .check(z.refine((email) => !email.includes("xn--") || hasValidLabels(email), rule));

/** Whether each label that begins with `xn--` is the form of a name. One beyond ASCII makes the parser check them. */
function hasValidLabels(email: string): boolean {
  return URL.canParse(`http://ü.${email.slice(email.indexOf("@") + 1)}`);
}

/** Emails of accounts are compared without regard to case. RFC 5321 limits what stands before the @ too. */
export const Email = EmailAddress.check(
  z.refine((email) => email.indexOf("@") <= 64, "must have at most 64 characters before the @"),
  z.toLowerCase(),
);
