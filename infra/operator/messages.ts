import * as z from "zod/mini";

import { KnownPhoneNumber } from "../../shared/contract/phone-numbers.ts";
import { idSchema } from "../../shared/contract/primitives.ts";
import { MessageStatus } from "../../shared/contract/sms.ts";
import { attemptsOf, type Attempt } from "../../shared/messages/attempts.ts";
import type { MessageRecord } from "../../shared/messages/record.ts";
import { findMessageById, maxSearched, searchMessages } from "../../shared/messages/search.ts";
import { Refusal } from "../../shared/platform/refusal.ts";
import { amountOf } from "../../shared/wallet/money.ts";
import { command, count, part, RequiredText } from "./command.ts";
import { readOrganization } from "./organizations.ts";
import { listOf, tableOf, type Column } from "./output.ts";

/*
 * What became of messages, and why. Their texts are the customers' matter and are not shown.
 */

const attemptColumns: readonly Column<Attempt>[] = [
  { heading: "AT", text: ({ at }) => at },
  { heading: "CARRIER", text: ({ carrier = "?" }) => carrier },
  { heading: "OUTCOME", text: ({ outcome }) => outcome },
  { heading: "CODE", text: ({ code = "" }) => code },
];

const show = command({
  name: "messages show",
  summary: "Show what became of a message, and which carrier said what",
  details:
    "With the carriers' own codes, of the last five attempts. A message is kept with its organisation: without " +
    `--organization up to ${maxSearched.toLocaleString("en")} organisations are searched for it.`,
  examples: [
    "msg_01M7Y6EJCCCYF8FQN69JCEXBCE --stage prod",
    "msg_01M7Y6EJCCCYF8FQN69JCEXBCE --organization ada@example.com --json",
  ],
  input: z.object({
    message: part("<message>", "its id", idSchema("msg")),
    organization: part(
      "--organization <organisation>",
      "the id of its organisation, or the email of a user there",
      z.optional(RequiredText),
      { isPersonal: true },
    ),
  }),
  run: async ({ message: id, organization }, { output }) => {
    const organizationId = organization === undefined ? undefined : (await readOrganization(organization)).id;
    const { message, isComplete } = await findMessageById(id, organizationId);
    if (message === undefined) {
      throw new Refusal(
        isComplete
          ? `There is no message ${id}${organizationId === undefined ? "" : ` of ${organizationId}`}.`
          : `None of the first ${maxSearched} organisations has ${id}: name its own with --organization.`,
      );
    }
    const result = shown(message);
    const { attempts } = result;
    const facts = listOf(factsOf(message));
    output.result(result, attempts.length === 0 ? facts : `${facts}\n\n${tableOf(attempts, attemptColumns)}`);
  },
});

interface Shown extends Omit<
  MessageRecord,
  "attemptLog" | "attempts" | "leaseToken" | "entity" | "expiresAt" | "message"
> {
  readonly attempts: readonly Attempt[];
  readonly timesClaimed: number;
}

/** A message without its text, and without what the gateway only keeps for itself. */
function shown(record: MessageRecord): Shown {
  const {
    entity: _entity,
    message: _text,
    attemptLog: _log,
    attempts: timesClaimed,
    leaseToken: _token,
    expiresAt: _forgottenAt,
    ...rest
  } = record;
  return { ...rest, timesClaimed, attempts: attemptsOf(record) };
}

function factsOf(message: MessageRecord): Record<string, string | undefined> {
  const { status, errorCode, deliveryStatus, deliveryErrorCode, deliveryProviderCode } = message;
  return {
    Message: message.id,
    Organisation: message.organizationId,
    To: message.to,
    From: message.senderId,
    Type: message.messageType,
    Campaign: message.campaignId,
    State: [status, errorCode ?? ""].join(" ").trim(),
    Accepted: message.queuedAt,
    Scheduled: message.scheduledAt,
    Expires: message.validUntil,
    Sent: message.sentAt,
    Failed: message.failedAt,
    Cancelled: message.cancelledAt,
    Refund: message.refund,
    Carrier: message.carrier,
    "Its reference": message.carrierReference,
    Delivery:
      deliveryStatus === undefined
        ? undefined
        : [deliveryStatus, deliveryErrorCode, deliveryProviderCode, message.deliveryAt]
            .filter((each) => each !== undefined)
            .join(" "),
    Price: `${amountOf(message.totalMicros)} USD, ${message.segments} segments`,
    Cost: message.costMicros === undefined ? "not known" : `${amountOf(message.costMicros)} USD`,
  };
}

const columns: readonly Column<Shown>[] = [
  { heading: "MESSAGE", text: ({ id }) => id },
  { heading: "ACCEPTED", text: ({ queuedAt }) => queuedAt },
  { heading: "TO", text: ({ to }) => to },
  { heading: "STATE", text: ({ status }) => status },
  { heading: "ERROR", text: ({ errorCode = "" }) => errorCode },
  { heading: "CARRIER", text: ({ attempts }) => attempts.at(-1)?.carrier ?? "" },
  { heading: "CODE", text: ({ attempts }) => attempts.at(-1)?.code ?? "" },
  { heading: "DELIVERY", text: ({ deliveryStatus = "" }) => deliveryStatus },
];

const sinceRule = "must be a day such as 2026-03-01, or a time such as 2026-03-01T09:30:00Z";
const maxListed = 1_000;

const list = command({
  name: "messages list",
  summary: "List an organisation's newest messages, with the last carrier and its code",
  examples: [
    "--organization ada@example.com --status failed --stage prod",
    "--organization ada@example.com --number 15005550100 --since 2026-03-01 --json",
  ],
  input: z.object({
    organization: part(
      "--organization <organisation>",
      "its id, or the email of a user there",
      RequiredText,
      { isPersonal: true },
    ),
    number: part(
      "--number <number>",
      "only messages to this number, in international form",
      z.optional(KnownPhoneNumber),
      { isPersonal: true },
    ),
    status: part(
      "--status <state>",
      `only messages in this state: ${MessageStatus.options.join(", ")}`,
      z.optional(z.enum(MessageStatus.options, `must be one of ${MessageStatus.options.join(", ")}`)),
    ),
    since: part(
      "--since <time>",
      "only messages that were accepted from this day (UTC) or time on",
      z.optional(
        z.pipe(
          z.union([z.iso.date(), z.iso.datetime({ offset: true })], sinceRule),
          z.transform((text) => new Date(text)),
        ),
      ),
    ),
    limit: part(
      "--limit <number>",
      `so many of the newest, 50 unless told, ${maxListed} at the most`,
      z._default(count(maxListed), 50),
    ),
  }),
  run: async ({ organization, number, status, since, limit }, { output }) => {
    const { id } = await readOrganization(organization);
    const { messages, isComplete } = await searchMessages(id, { to: number, status, since, limit });
    output.table(messages.map(shown), columns);
    output.note(`${messages.length} messages${isComplete ? "" : "; there may be more"}`);
  },
});

export const messageCommands = [show, list];
