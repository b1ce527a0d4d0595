import * as z from "zod/mini";

import { dayMs, epochSeconds, minuteMs, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/** How long one who sends an email keeps others from it: longer than a worker lives. */
const claimMs = minuteMs;

/** Longer than a job can be parked. */
const rememberedMs = 30 * dayMs;

/** That an email is being sent, or was. It does not say to whom. */
const SentEmailRecord = z.object({
  entity: z.literal("sentEmail"),
  claimedUntil: z.string(),
  sentAt: z.optional(z.string()),
  expiresAt: z.number(),
});

/**
 * Takes an email, so that nobody else sends it meanwhile.
 * @returns false when it was sent before
 * @throws Error when another worker sends it: should that one fail, the job has to come again
 */
export async function claimEmail(emailId: string): Promise<boolean> {
  const at = now();
  const claim = updateOf(
    keys.sentEmail(emailId),
    {
      set: {
        entity: "sentEmail",
        claimedUntil: new Date(at.getTime() + claimMs).toISOString(),
        expiresAt: epochSeconds(new Date(at.getTime() + rememberedMs)),
      },
    },
    {
      absent: ["sentAt"],
      where: "attribute_not_exists(#claimedUntil) OR #claimedUntil <= :at",
      values: { ":at": at.toISOString() },
    },
  );
  const claimed = await updateItem(SentEmailRecord, claim);
  if (claimed.applied) return true;
  if (SentEmailRecord.parse(claimed.found).sentAt !== undefined) return false;
  throw new Error("another worker holds this email");
}

/** Notes that an email was sent, after which it is not sent again. */
export async function noteSentEmail(emailId: string): Promise<void> {
  const key = keys.sentEmail(emailId);
  await updateItem(
    SentEmailRecord,
    updateOf(key, { set: { sentAt: now().toISOString() } }, { present: ["pk"] }),
  );
}
