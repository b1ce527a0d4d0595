import * as z from "zod/mini";

import { about, namedObject, withExample } from "./about.ts";
import { Country } from "./countries.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";
import { ReviewStatus } from "./reviews.ts";

export const SubmitKycRequest = withExample(
  namedObject("SubmitKycRequest", {
    businessName: text(200).check(z.minLength(1, "must not be empty")),
    registrationNumber: about(z.optional(text(100)), "Its number in the register of companies."),
    country: z.optional(Country),
    address: z.optional(text(500)),
    contactName: about(z.optional(text(200)), "A contact person for the operator."),
    website: about(
      z.optional(
        z
          .url({ protocol: /^https?$/, error: "must be an http or https address", abort: true })
          .check(z.maxLength(2_048, "must be at most 2048 characters long")),
      ),
      "An http or https address.",
    ),
  }),
  {
    businessName: "Ada's shop Ltd",
    registrationNumber: "01234567",
    country: "GB",
    contactName: "Ada King",
    website: "https://shop.example",
  },
);
export type SubmitKycRequest = z.infer<typeof SubmitKycRequest>;

export const KycSubmission = namedObject("KycSubmission", {
  id: idSchema("kyc"),
  status: ReviewStatus,
  businessName: z.string(),
  registrationNumber: z.optional(z.string()),
  country: z.optional(z.string()),
  address: z.optional(z.string()),
  contactName: z.optional(z.string()),
  website: z.optional(z.string()),
  submittedAt: Timestamp,
  decidedAt: z.optional(Timestamp),
  rejectionReason: about(z.optional(z.string()), "Why the operator rejected it."),
});
export type KycSubmission = z.infer<typeof KycSubmission>;

/** The submission of an organization; null until there is one. */
export const CurrentKyc = z.nullable(KycSubmission);
