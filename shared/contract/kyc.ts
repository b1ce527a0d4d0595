import * as z from "zod";

import { Country } from "./countries.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";
import { ReviewStatus } from "./reviews.ts";

export const SubmitKycRequest = z
  .object({
    businessName: text(200).min(1, "must not be empty"),
    registrationNumber: text(100)
      .optional()
      .meta({ description: "Its number in the register of companies." }),
    country: Country.optional(),
    address: text(500).optional(),
    contactName: text(200).optional().meta({ description: "Whom the operator can ask." }),
    website: z
      .url({ protocol: z.regexes.httpProtocol, error: "must be an http or https address" })
      .max(2_048, "must be at most 2048 characters long")
      .optional()
      .meta({ description: "An http or https address." }),
  })
  .meta({
    id: "SubmitKycRequest",
    examples: [
      {
        businessName: "Ada's shop Ltd",
        registrationNumber: "01234567",
        country: "GB",
        contactName: "Ada King",
        website: "https://shop.example",
      },
    ],
  });
export type SubmitKycRequest = z.infer<typeof SubmitKycRequest>;

export const KycSubmission = z
  .object({
    id: idSchema("kyc"),
    status: ReviewStatus,
    businessName: z.string(),
    registrationNumber: z.string().optional(),
    country: z.string().optional(),
    address: z.string().optional(),
    contactName: z.string().optional(),
    website: z.string().optional(),
    submittedAt: Timestamp,
    decidedAt: Timestamp.optional(),
    rejectionReason: z.string().optional().meta({ description: "Why the operator rejected it." }),
  })
  .meta({ id: "KycSubmission" });
export type KycSubmission = z.infer<typeof KycSubmission>;

/** The submission of an organisation; null until there is one. */
export const CurrentKyc = KycSubmission.nullable();
