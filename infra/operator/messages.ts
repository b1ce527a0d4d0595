import * as z from "zod/mini";

import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import { idSchema } from "../../shared/api/contract/primitives.ts";
import { MessageStatus } from "../../shared/api/contract/sms.ts";
import { attemptsOf, type Attempt } from "../../shared/messages/message/attempts.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { findMessageById, maxSearched, searchMessages } from "../../shared/messages/search/find.ts";
import { openAttempt } from "../../shared/messages/send/acquire-message.ts";
import { amountOf } from "../../shared/money/wallet/money.ts";
import { config } from "../../shared/platform/config.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { withAllShards } from "../../shared/platform/table/shards.ts";
import {
  command,
  limit,
  OrganizationOption,
  part,
  personal,
  RequiredOrganizationOption,
  SinceOption,
} from "./command.ts";
import { readOrganization } from "./organization.ts";
import { listOf, type Columns } from "./output.ts";

/*
 * The history of messages. Their texts belong to the customers and are never shown.
 */

const attemptColumns: Columns<Attempt> = { TIME: "at", CARRIER: "carrier", OUTCOME: "outcome", CODE: "code" };

const searched = maxSearched.toLocaleString("en");

const show = command({
  name: "messages show",
  summary: "Show a message, and the carriers' responses to its last five attempts",
  details: `Without --organization the command searches up to ${searched} organizations.`,
  examples: [
    "msg_01M7Y6EJCCCYF8FQN69JCEXBCE --stage prod",
    "msg_01M7Y6EJCCCYF8FQN69JCEXBCE --organization ada@example.com --json",
  ],
  discloses: true,
  input: z.object({
    message: part("<message>", "message ID", idSchema("msg")),
    organization: OrganizationOption,
  }),
  run: async ({ message: id, organization }, { output }) => {
    const organizationId = organization === undefined ? undefined : (await readOrganization(organization)).id;
    const { message, isComplete } = await findMessageById(id, organizationId);
    if (message === undefined) {
      const within = organizationId === undefined ? "" : ` of ${organizationId}`;
      throw new RejectedError(
        isComplete
          ? `There is no message ${id}${within}.`
          : `None of the first ${searched} organizations has ${id}. Name its organization with --organization.`,
      );
    }
    const result = shown(message);
    output.result(result, listOf(factsOf(message)), result.attempts, attemptColumns);
  },
});

/** A message without its text and internal fields. */
export function shown(record: MessageRecord) {
  const {
    entity: _entity,
    message: _text,
    attemptLog: _log,
    attempts: timesAcquired,
    leaseToken: _token,
    expiresAt: _expiresAt,
    ...rest
  } = record;
  return { ...rest, timesAcquired, attempts: attemptsWithOpen(record) };
}

/** Returns the last attempts of a message, with one that its carrier has not responded to. */
export function attemptsWithOpen(record: MessageRecord): Attempt[] {
  const open = openAttempt(record);
  const recorded = attemptsOf(record);
  return open === undefined || recorded.includes(open) ? [...recorded] : [...recorded, open];
}

export function factsOf(message: MessageRecord): Record<string, string | undefined> {
  const { status, errorCode, deliveryStatus, deliveryErrorCode, deliveryProviderCode } = message;
  return {
    Message: message.id,
    Organization: message.organizationId,
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
    Reference: message.carrierReference,
    Delivery:
      deliveryStatus === undefined
        ? undefined
        : [deliveryStatus, deliveryErrorCode, deliveryProviderCode, message.deliveryAt]
            .filter((each) => each !== undefined)
            .join(" "),
    Price: `${amountOf(message.totalMicros)} ${config.currency()}, ${message.segments} segments`,
    Cost:
      message.costMicros === undefined ? "unknown" : `${amountOf(message.costMicros)} ${config.currency()}`,
  };
}

const statuses = MessageStatus.options.join(", ");

const list = command({
  name: "messages list",
  summary: "List an organization's newest messages, with the last carrier and its code",
  examples: [
    "--organization ada@example.com --status failed --stage prod",
    "--organization ada@example.com --number 15005550100 --since 2026-03-01 --json",
  ],
  discloses: true,
  input: z.object({
    organization: RequiredOrganizationOption,
    number: personal(
      "--number <number>",
      "recipient's number, in international form",
      z.optional(GivenPhoneNumber),
    ),
    status: part(
      "--status <state>",
      `one of ${statuses}`,
      z.optional(z.enum(MessageStatus.options, `must be one of ${statuses}`)),
    ),
    since: SinceOption,
    limit: limit(50, 1_000, "messages"),
  }),
  run: async ({ organization, number, status, since, limit: wanted }, { output }) => {
    const { id } = await readOrganization(organization);
    const filter = { to: number, status, since, limit: wanted };
    const { messages, isComplete } = await searchMessages(withAllShards(id), filter);
    output.table(messages.map(shown), {
      MESSAGE: "id",
      ACCEPTED: "queuedAt",
      TO: "to",
      STATE: "status",
      ERROR: "errorCode",
      CARRIER: ({ attempts }) => attempts.at(-1)?.carrier,
      CODE: ({ attempts }) => attempts.at(-1)?.code,
      DELIVERY: "deliveryStatus",
    });
    output.note(`${messages.length} messages${isComplete ? "" : "; there may be more"}`);
  },
});

export const messageCommands = [show, list];
