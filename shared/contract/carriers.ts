import * as z from "zod/mini";

/** The kinds of callbacks from a carrier: a delivery receipt or an inbound message. */
export const Report = z.enum(["receipts", "replies"]);
export type Report = z.infer<typeof Report>;

/** An invalid name is not found, like a name that no carrier has. */
export const CarrierReportParams = z.object({ carrier: z.string().check(z.maxLength(32)), report: Report });

/** The parameters of the address that a carrier calls: ours, and those that the carrier adds. */
export const CarrierReportQuery = z.looseObject({
  token: z
    .optional(z.string().check(z.maxLength(200)))
    .register(z.globalRegistry, { description: "The token of the carrier." }),
  reference: z
    .optional(z.string().check(z.maxLength(200)))
    .register(z.globalRegistry, { description: "For receipts: our reference of the message." }),
});

const CarrierReport = z.looseObject({}).register(z.globalRegistry, {
  id: "CarrierReport",
  description: "A delivery receipt or an inbound message, in the carrier's own fields.",
});

/** The largest batch from carriers that send several callbacks in one call. */
const maxReports = 500;

export const CarrierReportBody = z
  .union([CarrierReport, z.array(CarrierReport).check(z.minLength(1), z.maxLength(maxReports))])
  .register(z.globalRegistry, {
    id: "CarrierReportBody",
    description: "A report, or a list of them.",
    examples: [{ MessageSid: "SM0123456789abcdef0123456789abcdef", MessageStatus: "delivered" }],
  });

/** An empty response. Some carriers would send a text in it to the phone. */
export const CarrierReportAnswer = z.string().register(z.globalRegistry, { id: "CarrierReportAnswer" });
