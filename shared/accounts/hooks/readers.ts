import * as z from "zod/mini";

import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { HookKind } from "../../api/contract/hook-kinds.ts";
import { GivenPhoneNumber } from "../../api/contract/phone-numbers.ts";
import { validate } from "../../api/contract/validation.ts";

/** The places of the number, the code, and others, of which the first that is there counts. A text has the code in it. */
interface Fields {
  readonly to: readonly string[];
  readonly code?: readonly string[];
  readonly text?: readonly string[];
  readonly ip?: string;
  readonly repeatId?: string;
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
  logto: { to: ["to"], code: ["payload.code"], ip: "ip" },
  authentik: { to: ["To"], text: ["Body", "Message"] },
  auth0: { to: ["recipient"], text: ["body"], ip: "req.ip" },
  zitadel: { to: ["contextInfo.recipientPhoneNumber"], code: ["args.code", "args.oTP"] },
};

const codeRule = "must be one code of 4 to 10 characters";
const HookContent = z.object({
  to: GivenPhoneNumber,
  code: z.string(codeRule).check(z.regex(/^[0-9A-Za-z]{4,10}$/, codeRule)),
  /** One that is not valid is left out, because the code can be sent without it. */
  ip: z.catch(z.optional(z.union([z.ipv4(), z.ipv6()])), undefined),
  /** Identifies the request, however often the system repeats it. */
  repeatId: z.optional(z.string()),
});

/**
 * Reads the number and the code in a call of a login system.
 * @throws ApiError VALIDATION_ERROR, also for the body of another system
 */
export function readHookBody(kind: HookKind, rawBody: string): z.infer<typeof HookContent> {
  const { to, code = [], text = [], ip = "", repeatId = "" } = fieldsOf[kind];
  const body = parsed(rawBody);
  const at = (place: string): string | undefined => textAt(body, place);
  const read = validate(HookContent, {
    // Some systems send a number as the person wrote it.
    to: first(to.map(at))?.replaceAll(/[ ().-]/g, ""),
    code: first([...code.map(at), ...text.map((place) => codeIn(at(place)))]),
    ip: at(ip),
    repeatId: at(repeatId),
  });
  if (!read.success) throw new ApiError("VALIDATION_ERROR", { details: read.details });
  return read.data;
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
