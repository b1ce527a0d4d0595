import * as z from "zod/mini";

import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { HookKind } from "../../api/contract/hook-kinds.ts";
import { GivenPhoneNumber } from "../../api/contract/phone-numbers.ts";
import { validate } from "../../api/contract/validation.ts";
import { Locale } from "../../api/contract/verifications.ts";
import { internationalNumber, writtenNumber } from "../../api/contract/written-numbers.ts";

/** The places of the number, the code, and others, of which the first that is there counts. A text has the code in it. */
interface Fields {
  readonly to: readonly string[];
  readonly code?: readonly string[];
  readonly text?: readonly string[];
  readonly ip?: string;
  readonly locale?: string;
  readonly repeatId?: string;
  /** Whether the numbers are as people typed them. Other systems send the country code first. */
  readonly areTyped?: true;
}

/**
 * The bodies of login systems, as they document them. The sources of Supabase add `metadata`, which names the request in each
 * attempt, and `sms.phone`, the new number while a user changes it. `oTP` is Zitadel's code of a second factor.
 */
const fieldsOf: Readonly<Record<HookKind, Fields>> = {
  supabase: {
    to: ["sms.phone", "user.phone"],
    code: ["sms.otp"],
    ip: "metadata.ip_address",
    repeatId: "metadata.uuid",
  },
  logto: { to: ["to"], code: ["payload.code"], ip: "ip", locale: "payload.locale" },
  authentik: { to: ["To"], text: ["Body", "Message"], areTyped: true },
  auth0: { to: ["recipient"], text: ["body"], ip: "req.ip" },
  zitadel: { to: ["contextInfo.recipientPhoneNumber"], code: ["args.code", "args.oTP"] },
};

const codeRule = "must be one code of 4 to 10 characters";
const HookContent = z.object({
  to: GivenPhoneNumber,
  code: z.string(codeRule).check(z.regex(/^[0-9A-Za-z]{4,10}$/, codeRule)),
  /** One that is not valid is left out, because the code can be sent without it. */
  ip: z.catch(z.optional(z.union([z.ipv4(), z.ipv6()])), undefined),
  /** So is the language. */
  locale: z.catch(z.optional(Locale), undefined),
  /** Identifies the request, however often the system repeats it. */
  repeatId: z.optional(z.string()),
});

/**
 * Reads the number and the code in a call of a login system.
 * @throws ApiError VALIDATION_ERROR, also for the body of another system
 */
export function readHookBody(kind: HookKind, rawBody: string): z.infer<typeof HookContent> {
  const { to, code = [], text = [], ip = "", locale = "", repeatId = "", areTyped } = fieldsOf[kind];
  const body = parsed(rawBody);
  const at = (place: string): string | undefined => textAt(body, place);
  const read = validate(HookContent, {
    to: numberOf(first(to.map(at)), areTyped),
    code: first([...code.map(at), ...text.map((place) => codeIn(at(place)))]),
    ip: at(ip),
    locale: at(locale)?.replaceAll("_", "-"),
    repeatId: at(repeatId),
  });
  if (!read.success) throw new ApiError("VALIDATION_ERROR", { details: read.details });
  return read.data;
}

/**
 * Returns the number of a text with a plus sign or 00, or of digits alone if no one typed them.
 * @throws ApiError VALIDATION_ERROR for all others: they may have no country code, and be those of a stranger with one
 */
function numberOf(text: string | undefined, areTyped = false): string | undefined {
  if (text === undefined) return undefined;
  const written = writtenNumber(text);
  const isInternational = "form" in written && written.form === "international";
  const isComplete = isInternational || (!areTyped && /^\s*\d+\s*$/.test(text));
  const number = isComplete ? internationalNumber(text) : undefined;
  if (number !== undefined) return number;
  throw invalidField("to", "must begin with a plus sign and its country code, such as +447700900123");
}

function parsed(rawBody: string): unknown {
  try {
    return JSON.parse(rawBody);
  } catch {
    throw invalidField("", "the body must be JSON");
  }
}

/** Returns the text in a field of nested objects; undefined also for an empty one. */
function textAt(body: unknown, place: string): string | undefined {
  const value = place.split(".").reduce((within, name) => Object(within)[name], body);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function first(texts: readonly (string | undefined)[]): string | undefined {
  return texts.find((text) => text !== undefined);
}

/** Returns the only number of 4 to 10 digits in a text; undefined if there are several, because any could be the code. */
function codeIn(text = ""): string | undefined {
  const found = new Set(text.match(/(?<![\w+])\d{4,10}(?!\w)/g));
  return found.size === 1 ? [...found][0] : undefined;
}
