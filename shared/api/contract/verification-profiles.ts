import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { Country } from "./countries.ts";
import { AllowedRecipient } from "./key-limits.ts";
import { text, Timestamp, Version } from "./primitives.ts";
import { SenderId } from "./senders.ts";
import { AppHash, Domain, Locale, ProfileName } from "./verifications.ts";

const codeOnce = /^([^{}]|\{brand\}|\{minutes\})*\{code\}([^{}]|\{brand\}|\{minutes\})*$/;
const VerificationText = text(160).check(
  z.regex(codeOnce, "must contain {code} exactly once, and no other braces except {brand} and {minutes}"),
);

const maxTexts = 50;
const Texts = z.record(Locale, VerificationText).check(
  z.refine((texts) => Object.keys(texts).length <= maxTexts, `must have at most ${maxTexts} entries`),
  z.meta({
    maxProperties: maxTexts,
    description: "Your own texts by language. Other languages have the gateway's texts.",
  }),
);

const Guard = about(
  namedEnum("VerificationGuard", ["monitor", "block", "strict"]),
  "Whether the guard against fraud only notes suspicious verifications, rejects them, or rejects them after half as many " +
    "(`strict`). In each mode a number has ten starts and 25 checks in a day.",
);

const fields = {
  brand: text(30).check(
    z.refine(
      (name) => /^[^{}\r\n]+$/.test(name) && name.trim() !== "",
      "must be a name without braces or line breaks",
    ),
    z.meta({ description: "The name of your product in the text." }),
  ),
  senderId: z.optional(SenderId),
  codeLength: z._default(z.int().check(z.gte(4), z.lte(10)), 6),
  validitySeconds: z._default(z.int().check(z.gte(60), z.lte(3_600)), 600),
  texts: z.optional(Texts),
  domain: z.optional(Domain),
  appHash: z.optional(AppHash),
  countries: about(
    z.optional(z.array(Country).check(z.minLength(1), z.maxLength(250))),
    "The countries that codes are sent to. Default: all countries of the gateway.",
  ),
  guard: z._default(Guard, "monitor"),
  allow: about(
    z._default(z.array(AllowedRecipient).check(z.maxLength(50)), []),
    "The first digits of numbers whose ranges and countries the guard trusts, however few codes people enter. The limits of a " +
      "number, an address and a device still hold, and so does `countries`.",
  ),
};

/** Unknown fields are rejected, because a limit with a wrong name would not limit anything. */
export const SaveVerificationProfileRequest = withExample(
  namedStrictObject("SaveVerificationProfileRequest", { ...fields, version: z.optional(Version) }),
  { brand: "Ada's shop", countries: ["GB", "US"], guard: "block" },
);
export type SaveVerificationProfileRequest = z.infer<typeof SaveVerificationProfileRequest>;

export const VerificationProfileParams = z.object({ name: ProfileName });

export const VerificationProfile = namedObject("VerificationProfile", {
  name: ProfileName,
  ...fields,
  version: Version,
  updatedAt: about(z.optional(Timestamp), "Absent from `default` until you save it."),
});
export type VerificationProfile = z.infer<typeof VerificationProfile>;

export const DeletedVerificationProfile = namedObject("DeletedVerificationProfile", {
  name: ProfileName,
  deleted: z.literal(true),
});
