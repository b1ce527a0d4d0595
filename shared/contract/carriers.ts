import * as z from "zod/mini";

/** Which of the two a carrier reports. */
export const Report = z.enum(["receipts", "replies"]);
export type Report = z.infer<typeof Report>;

/** What is no name of a carrier is not found, like a name that no carrier has. */
export const CarrierReportParams = z.object({ carrier: z.string().check(z.maxLength(32)), report: Report });

/** What the address carries that a carrier calls, and what the carrier adds to it. */
export const CarrierReportQuery = z.looseObject({
  token: z
    .optional(z.string().check(z.maxLength(200)))
    .register(z.globalRegistry, { description: "The token of the carrier." }),
  reference: z
    .optional(z.string().check(z.maxLength(200)))
    .register(z.globalRegistry, { description: "Of receipts: our reference of the message." }),
});

const CarrierReport = z.looseObject({}).register(z.globalRegistry, {
  id: "CarrierReport",
  description: "What a carrier reports, in its own fields.",
});

/** Carriers that gather reports send so many at the most. */
const maxReports = 500;

export const CarrierReportBody = z
  .union([CarrierReport, z.array(CarrierReport).check(z.minLength(1), z.maxLength(maxReports))])
  .register(z.globalRegistry, {
    id: "CarrierReportBody",
    description: "A report, or a list of them.",
    examples: [{ MessageSid: "SM0123456789abcdef0123456789abcdef", MessageStatus: "delivered" }],
  });

/** Nothing: where a carrier takes the answer for one to the phone, this is none. */
export const CarrierReportAnswer = z.string().register(z.globalRegistry, { id: "CarrierReportAnswer" });
