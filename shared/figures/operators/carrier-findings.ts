import { operatorsEmail, owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { dayOf, now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf } from "../../platform/table/write.ts";
import type { Finding } from "../deliveries/watch.ts";
import { noticeOf } from "./record.ts";

/**
 * Emails the findings of a look at the carriers to the operators, each once a day. An alarm has a fixed text, so this email has
 * the names. A failure is only logged, because the alarm fires in any case.
 */
export async function emailFindings(findings: readonly Finding[]): Promise<void> {
  const since = now().toISOString();
  const email = operatorsEmail({ what: "carriers", since }, `carriers-${since}`);
  let isNew = false;
  for (const { event: what, carrier, country, share, usualShare } of findings) {
    const { key, record } = noticeOf({ what, carrier, country, share, usualShare }, dayOf(since));
    try {
      const noted = await transact({ notice: insertOf(key, record), email: owedEmail(email) });
      if (noted.outcome === "committed") isNew = true;
    } catch (error) {
      log.warn("carrier.finding_not_noted", { carrier, error });
    }
  }
  if (isNew) await queueOwedEmail(email);
}
