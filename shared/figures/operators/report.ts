import { byDueDate, findPayment, openDisputeOf, PaymentRecord } from "../../money/payments/record.ts";
import { moneyText } from "../../money/wallet/money.ts";
import type { OperatorNotice } from "../../notices/emails/email-kinds.ts";
import type { EmailText } from "../../notices/emails/layout.ts";
import { hourMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { momentOf } from "../../platform/ids.ts";
import { listPending } from "../../platform/jobs/pending-work.ts";
import { shardCount } from "../../platform/jobs/shards.ts";
import { keys, type ReviewKind } from "../../platform/table/keys.ts";
import { findItem, findTogether, itemsOf } from "../../platform/table/read.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { listReviews } from "../../tenancy/reviews.ts";
import { OperatorNoticeRecord, paymentsCompared, readNotices, unusualSpend } from "./record.ts";

/*
 * The work that waits for the operators, and the emails about it.
 */

/** Counts the requests that wait for a decision. */
export async function countReviews(kind: ReviewKind): Promise<{ count: number; oldestHours: number }> {
  let count = 0;
  let oldestMs = now().getTime();
  for await (const { id } of listReviews(kind)) {
    count += 1;
    oldestMs = Math.min(oldestMs, momentOf(id).getTime());
  }
  return { count, oldestHours: Math.floor((now().getTime() - oldestMs) / hourMs) };
}

/** Reads the payments that the gateway still works on, by the pending-work index. Those with an open dispute are among them. */
export async function readUnsettled(): Promise<PaymentRecord[]> {
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  const listed = await Promise.all(shards.map(async (shard) => listPending("PAYMENT", shard, " ", "~")));
  return itemsOf(await findTogether(PaymentRecord, listed.flat()));
}

/** Reads the payments with an open dispute, the next one due first. */
export async function readDisputed(): Promise<PaymentRecord[]> {
  const unsettled = await readUnsettled();
  return unsettled.filter((payment) => openDisputeOf(payment) !== undefined).toSorted(byDueDate);
}

/** Returns the text of an email to the operators; undefined if there is nothing to report. */
export async function operatorsText(notice: OperatorNotice): Promise<EmailText | undefined> {
  switch (notice.what) {
    case "daily": {
      // The notices of both days, because the email may be later than the one before. Those of a night are in two emails.
      const notices = (await readNotices(1)).filter(({ what }) => what !== paymentsCompared);
      return textOf("Open work of today", [
        ...section("Reviews that wait (kyc list, sender-ids list)", await reviewLines()),
        ...section("Open disputes (payments list --disputed)", (await readDisputed()).map(disputeLine)),
        ...section(
          "New since yesterday (organizations unusual, payments show, deliveries)",
          notices.map(noticeLine),
        ),
      ]);
    }
    case "unusualSpend":
      return unusualText(notice);
    case "carriers":
      return carriersText(notice.since);
    case "disputeOpened": {
      const payment = await findPayment(notice);
      const isOpen = payment !== undefined && openDisputeOf(payment) !== undefined;
      return textOf("A payment is disputed", isOpen ? [disputeLine(payment)] : []);
    }
  }
}

/** Returns the text of what the watch over spending has noticed in its last period, the largest amounts first. */
async function unusualText({
  day,
  key,
  since,
}: Extract<OperatorNotice, { what: "unusualSpend" }>): Promise<EmailText | undefined> {
  const one = await findItem(OperatorNoticeRecord, keys.operatorNotice(day, key), { consistent: true });
  const ofPeriod = (await readNotices(1)).filter(
    ({ what, at }) => since !== undefined && what === unusualSpend && at >= since,
  );
  const notices = ofPeriod.length > 0 ? ofPeriod : one === undefined ? [] : [one];
  const byAmount = notices.toSorted((first, next) => (next.amountMicros ?? 0) - (first.amountMicros ?? 0));
  const names = new Map<string, string>();
  for (const { organizationId = "" } of byAmount.slice(0, maxLines)) {
    const organization = await findOrganization(organizationId).catch(undefinedIfUnreadable);
    if (organization !== undefined) names.set(organizationId, organization.name);
  }
  const lines = byAmount.map((each) => `${names.get(each.organizationId ?? "") ?? "?"}: ${noticeLine(each)}`);
  const subject =
    byAmount.length === 1 ? "A customer spends unusually much" : `${byAmount.length} times unusual spending`;
  return textOf(subject, section(`See organizations unusual --stage ${config.stage()}`, lines));
}

/** Returns the text of what the watch over carriers has noticed in a look. */
async function carriersText(since: string): Promise<EmailText | undefined> {
  const found = (await readNotices(1)).filter(({ carrier, at }) => carrier !== undefined && at >= since);
  const lines = found.map(noticeLine);
  const [subject = ""] = lines.length === 1 ? lines : [`${lines.length} findings about carriers`];
  const title = `See deliveries --stage ${config.stage()}, and the runbook's entry of the alarm`;
  return textOf(subject, section(title, lines));
}

async function reviewLines(): Promise<string[]> {
  const kinds = ["kyc", "sender-ids"] as const;
  const counts = await Promise.all(kinds.map(async (kind) => ({ kind, ...(await countReviews(kind)) })));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ kind, count, oldestHours }) => `${kind}: ${count}, the oldest for ${oldestHours} h`);
}

function disputeLine(payment: PaymentRecord): string {
  const { reason = "unknown reason", dueAt = "unknown" } = openDisputeOf(payment) ?? {};
  const { organizationId, id, totalMicros } = payment;
  return `${organizationId} ${id}: ${moneyText(totalMicros)}, ${reason}, evidence due ${dueAt}`;
}

function noticeLine({ what, organizationId, paymentId, country, ...figures }: OperatorNoticeRecord): string {
  const { carrier, share = 0, usualShare = 0 } = figures;
  if (carrier !== undefined) {
    const shares = [share, usualShare].map((each) => `${(100 * each).toFixed(1)} %`);
    return `${what} ${carrier} ${country ?? "all countries"}: ${shares[0]}, usual ${shares[1]}`;
  }
  const { day, messages = 0, amountMicros = 0, usualMicros = 0 } = figures;
  const names = [what, organizationId, paymentId, country].filter((each) => each !== undefined).join(" ");
  if (country === undefined) return names;
  const [amount, usual] = [moneyText(amountMicros), moneyText(usualMicros)];
  return `${names} ${day}: ${messages} messages, ${amount}, usual ${usual}`;
}

/** The most lines of a section. */
const maxLines = 50;

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const rest = lines.length > maxLines ? [`and ${lines.length - maxLines} more`] : [];
  return [`${title}:`, ...lines.slice(0, maxLines), ...rest];
}

function textOf(subject: string, paragraphs: readonly string[]): EmailText | undefined {
  if (paragraphs.length === 0) return undefined;
  const closing = "You get this email because your address is in alarmEmails of the stage.";
  return { subject: `${config.stage()}: ${subject}`, paragraphs, closing };
}
