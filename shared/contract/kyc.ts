import * as z from "zod";

import { Country } from "./countries.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";
import { ReviewStatus } from "./reviews.ts";

export const SubmitKycRequest = z.object({
  businessName: text(200).min(1, "must not be empty"),
  registrationNumber: text(100).optional(),
  country: Country.optional(),
  address: text(500).optional(),
  contactName: text(200).optional(),
  website: z
    .httpUrl("must be an http or https address")
    .max(2_048, "must be at most 2048 characters long")
    .optional(),
});
export type SubmitKycRequest = z.infer<typeof SubmitKycRequest>;

export const KycSubmission = z.object({
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
  rejectionReason: z.string().optional(),
});
export type KycSubmission = z.infer<typeof KycSubmission>;
