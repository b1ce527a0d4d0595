import * as z from "zod/mini";

import { log } from "../../platform/log.ts";
import { suppressEmail } from "./suppression-record.ts";

/*
 * Feedback from Amazon SES: the events "Bounce" and "Complaint" of a configuration set, which EventBridge adds to the
 * queue of emails. After a permanent bounce or a complaint an address gets no more emails, because each of them would
 * count against the AWS account.
 */

/** The most recipients of an email in SES. */
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
    // A mailbox that is full, or a server that is down, may accept the next email.
    isFinal: bounce.bounceType === "Permanent",
  })),
);

/** Complaints that are not against the email: that it is wanted, or that its signature is wrong. */
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

/** The messages of the queue of emails that are feedback. */
export const EmailFeedback = z.union([Bounce, Complaint]);
export type EmailFeedback = z.output<typeof EmailFeedback>;

/** Suppresses emails to addresses that bounce or complain. Feedback may arrive repeatedly and late. */
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

/** Returns an address without the display name, as accounts store it. */
function plainAddress(text: string): string {
  const [, address = text] = /<([^<>]*)>/.exec(text) ?? [];
  return address.trim().toLowerCase();
}
