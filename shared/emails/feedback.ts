import * as z from "zod/mini";

import { log } from "../platform/log.ts";
import { suppressEmail } from "./suppression-record.ts";

/*
 * What Amazon SES says of emails that it has taken: the events "Bounce" and "Complaint" of a configuration set, as
 * EventBridge puts them onto the queue of emails. An address that an email came back from for good, or whose reader called
 * one unwanted, gets none any more: each further one would count against the account of the stage.
 */

/** SES names at most as many recipients as an email can have. */
const maxRecipients = 50;

const Recipients = z
  .array(z.object({ emailAddress: z.string().check(z.minLength(1), z.maxLength(500)) }))
  .check(z.maxLength(maxRecipients));
const Mail = z.object({ timestamp: z.iso.datetime({ offset: true }) });

const Bounce = z.pipe(
  z.object({
    eventType: z.literal("Bounce"),
    mail: Mail,
    bounce: z.object({ bounceType: z.string(), bouncedRecipients: Recipients }),
  }),
  z.transform(({ mail, bounce }) => ({
    kind: "feedback" as const,
    reason: "bounce" as const,
    emailSentAt: mail.timestamp,
    addresses: bounce.bouncedRecipients.map(({ emailAddress }) => emailAddress),
    // A mailbox that is full, or a server that is down, may take the next email.
    isFinal: bounce.bounceType === "Permanent",
  })),
);

/** Reports that say nothing against an email: that it is wanted, or that its signature is not right. */
const harmlessReports: ReadonlySet<string> = new Set(["auth-failure", "not-spam"]);

const Complaint = z.pipe(
  z.object({
    eventType: z.literal("Complaint"),
    mail: Mail,
    complaint: z.object({
      complaintFeedbackType: z.nullish(z.string()),
      complainedRecipients: Recipients,
    }),
  }),
  z.transform(({ mail, complaint }) => ({
    kind: "feedback" as const,
    reason: "complaint" as const,
    emailSentAt: mail.timestamp,
    addresses: complaint.complainedRecipients.map(({ emailAddress }) => emailAddress),
    isFinal: !harmlessReports.has(complaint.complaintFeedbackType ?? ""),
  })),
);

/** What the queue of emails carries beside the emails that are to be sent. */
export const EmailFeedback = z.union([Bounce, Complaint]);
export type EmailFeedback = z.output<typeof EmailFeedback>;

/** Keeps emails from addresses that do not take them. It may come more than once, and late. */
export async function recordFeedback({
  reason,
  emailSentAt,
  addresses,
  isFinal,
}: EmailFeedback): Promise<void> {
  if (!isFinal) return;
  const at = new Date(emailSentAt).toISOString();
  for (const address of new Set(addresses.map(plainAddress))) await suppressEmail(address, reason, at);
  log.warn("email.address_suppressed", { count: addresses.length, reason });
}

/** An address without a name beside it, as accounts have it. */
function plainAddress(text: string): string {
  return text
    .replace(/^.*<|>.*$/g, "")
    .trim()
    .toLowerCase();
}
