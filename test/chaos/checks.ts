import { WebhookPayload } from "../../shared/api/contract/webhooks.ts";
import { emptyTally, type Tally } from "../../shared/messages/counts/figures.ts";
import { added } from "../../shared/messages/counts/rows.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { microsOf } from "../../shared/money/wallet/money.ts";
import { dayOf } from "../../shared/platform/clock.ts";
import { serviceSignature, standardSignature } from "../../shared/webhooks/signature.ts";
import { openEnds, type Books } from "./books.ts";
import { isRouted } from "./carriers.ts";
import { patientNumbers, rejectedNumbers } from "./numbers.ts";
import { isDefinite } from "./responses.ts";
import { topUpAmount, type Send, type Tenant } from "./traffic.ts";

/** The carrier throttles a patient number in its first two calls, and accepts the message in the third. */
const patientCalls = 3;

/**
 * All problems of an organization after all work has settled and its days are over, in words.
 * @param carrier the number of submissions of each message that the carrier knows
 */
export async function problemsOf(
  tenant: Tenant,
  books: Books,
  carrier: ReadonlyMap<string, number>,
): Promise<string[]> {
  return [
    ...openEnds(books),
    ...(await moneyProblems(tenant, books)),
    ...answerProblems(tenant, books),
    ...books.unpaidMessages.map(({ id }) => `${id} was never paid for and is still there`),
    ...carrierProblems(books, carrier),
    ...webhookProblems(tenant, books),
    ...campaignProblems(tenant, books),
    ...countProblems(books),
  ];
}

/** Checks that each message is paid once, each unsent one is refunded once, and nothing else changed the balance. */
async function moneyProblems(tenant: Tenant, { wallet, ledger, messages }: Books): Promise<string[]> {
  const { findings, pending } = await verifyWallet(tenant.organizationId);
  const problems = [...findings, ...pending];
  const paid = countBy(ledger.filter(({ type }) => type === "message").map(({ messageId }) => messageId));
  const refunded = countBy(ledger.filter(({ type }) => type === "refund").map(({ messageId }) => messageId));
  for (const { id, status } of messages) {
    if (paid.get(id) !== 1) problems.push(`${id} was paid ${paid.get(id) ?? 0} times`);
    const refunds = refunded.get(id) ?? 0;
    if (refunds !== (status === "sent" ? 0 : 1))
      problems.push(`${id} is ${status} and was refunded ${refunds} times`);
  }
  const topUps = ledger.filter(({ type }) => type === "top_up");
  const credits = sum(topUps.map(({ amountMicros }) => amountMicros));
  const prices = sum(
    messages.filter(({ status }) => status === "sent").map(({ totalMicros }) => totalMicros),
  );
  if (wallet.balanceMicros !== credits - prices) {
    problems.push(`the balance is ${wallet.balanceMicros}, credits ${credits} less prices ${prices}`);
  }
  // A top-up with a key counts once if any response confirms it. Without a key, failed requests may count too.
  const sure = tenant.topUps.filter(({ statuses }) => statuses.includes(200)).length;
  const possible = tenant.topUps.filter(({ statuses }) => !statuses.every(isRejection)).length;
  const found = topUps.filter(({ amountMicros }) => amountMicros === microsOf(topUpAmount)).length;
  if (found < sure || found > possible)
    problems.push(`${found} top-ups, ${sure} to ${possible} were requested`);
  return problems;
}

/** Checks that each accepted request made one message, each rejected one none, and none made two. */
function answerProblems({ sends }: Tenant, { messages }: Books): string[] {
  const byText = Map.groupBy(messages, ({ message }) => message);
  return sends.flatMap((send) => {
    const made = byText.get(send.text) ?? [];
    const problem = answerProblem(send, made);
    return problem === undefined ? [] : [`${send.text} (responses ${send.statuses.join(", ")}): ${problem}`];
  });
}

function answerProblem(send: Send, made: readonly MessageRecord[]): string | undefined {
  const { ids, statuses, cancelStatuses, idempotencyKey } = send;
  const [message] = made;
  if (made.length > 1) return `there are ${made.length} messages`;
  if (ids.size > 1) return `its responses name ${[...ids].join(", ")}`;
  if (ids.size === 1 && message?.id !== [...ids][0])
    return `its response names ${[...ids].join()}, which is not there`;
  if (statuses.every(isRejection) && made.length > 0) return "it was rejected, and there is a message";
  if (idempotencyKey !== undefined && !statuses.some(isDefinite)) return "it never got a response";
  if (cancelStatuses.includes(200) && message?.status !== "cancelled")
    return `was cancelled and is ${message?.status}`;
  return undefined;
}

/** Whether a status guarantees that the request had no effect. */
function isRejection(status: number): boolean {
  return status >= 400 && isDefinite(status);
}

/** Checks that the sandbox accepted the sent messages, rejected the failed ones, and never got the cancelled ones. */
function carrierProblems({ messages }: Books, carrier: ReadonlyMap<string, number>): string[] {
  const ofSandbox = messages.filter(({ to }) => !isRouted(to));
  return ofSandbox.flatMap((message) => {
    const problem = carrierProblem(message, carrier.get(message.id) ?? 0);
    return problem === undefined ? [] : [`${message.id} to ${message.to} is ${message.status}, ${problem}`];
  });
}

function carrierProblem({ status, to, errorCode }: MessageRecord, calls: number): string | undefined {
  const isRejected = rejectedNumbers.includes(to);
  if (status === "cancelled") return calls === 0 ? undefined : "and the carrier has it";
  if (status === "sent") {
    if (isRejected) return "which the carrier never takes";
    const needed = patientNumbers.includes(to) ? patientCalls : 1;
    return calls >= needed ? undefined : `and the carrier was asked ${calls} times`;
  }
  // The responses were lost too often, so it is unknown whether the carrier has it.
  if (errorCode === "MESSAGE_OUTCOME_UNKNOWN") return undefined;
  if (!isRejected) return `with ${errorCode}, and the carrier would have taken it`;
  return calls >= 1 ? undefined : "and the carrier was never asked";
}

/** Checks that the tenant's endpoint got one event with valid signatures for each finished message, and no others. */
function webhookProblems({ webhook }: Tenant, { messages }: Books): string[] {
  if (webhook === undefined) return [];
  const { receiver, secret } = webhook;
  const problems: string[] = [];
  const told = new Map<string, string>();
  for (const { headers, body } of receiver.calls) {
    const id = String(headers["webhook-id"]);
    const { event, data } = WebhookPayload.parse(JSON.parse(body));
    const outcome = `${event} ${"id" in data ? data.id : ""}`;
    if ((told.get(id) ?? outcome) !== outcome) problems.push(`${id} reports ${outcome} and ${told.get(id)}`);
    told.set(id, outcome);
    const timestampSeconds = Number(headers["webhook-timestamp"]);
    const isSigned =
      headers["x-service-signature"] === serviceSignature(secret, body) &&
      headers["webhook-signature"] === standardSignature(secret, { id, timestampSeconds, body });
    if (!isSigned) problems.push(`${id} is not signed`);
  }
  const due = messages
    .filter(({ status }) => status !== "cancelled")
    .map(({ id, status }) => `message.${status} ${id}`);
  // An event has one id, however often it was delivered.
  const outcomes = [...told.values()];
  for (const outcome of due) {
    const ids = outcomes.filter((each) => each === outcome).length;
    if (ids !== 1) problems.push(`${outcome} came under ${ids} ids`);
  }
  const expected = new Set(due);
  for (const [id, outcome] of told) {
    if (!expected.has(outcome)) problems.push(`${id} reports ${outcome}, which is not expected`);
  }
  return problems;
}

/** Checks that each campaign reached each contact once. */
function campaignProblems({ campaignIds, contacts }: Tenant, { campaigns, messages }: Books): string[] {
  const problems: string[] = [];
  for (const id of campaignIds) {
    const reached = messages.filter(({ campaignId }) => campaignId === id).map(({ to }) => to);
    const status = campaigns.find((campaign) => campaign.id === id)?.status;
    if (status !== "completed") problems.push(`${id} is ${status}`);
    if (reached.length !== contacts.length || new Set(reached).size !== contacts.length) {
      problems.push(
        `${id} has ${reached.length} messages to ${new Set(reached).size} of ${contacts.length} contacts`,
      );
    }
  }
  return problems;
}

/** Checks that the counters of each day are closed and match the day's messages. */
function countProblems({ days, messages }: Books): string[] {
  const counts = (of: Pick<Tally, "accepted" | "cancelled" | "failed" | "sent">): string =>
    `${of.accepted} accepted, ${of.sent} sent, ${of.failed} failed, ${of.cancelled} cancelled`;
  const byDay = Map.groupBy(messages, ({ queuedAt }) => dayOf(queuedAt));
  return [...byDay].flatMap(([day, ofDay]) => {
    const those = (status: MessageRecord["status"]): number =>
      ofDay.filter((message) => message.status === status).length;
    // Each shard of the messages has its own counter.
    const ofParts = days.filter(({ sk }) => sk === `DAY#${day}`);
    if (ofParts.length === 0 || ofParts.some(({ closedAt }) => closedAt === undefined))
      return [`${day} is not closed`];
    const found = ofParts.reduce<Tally>(added, emptyTally);
    const real = {
      accepted: ofDay.length,
      sent: those("sent"),
      failed: those("failed"),
      cancelled: those("cancelled"),
    };
    return counts(found) === counts(real) ? [] : [`${day} counts ${counts(found)}, and has ${counts(real)}`];
  });
}

function countBy<Thing>(things: readonly Thing[]): Map<Thing, number> {
  const counts = new Map<Thing, number>();
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1);
  return counts;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
