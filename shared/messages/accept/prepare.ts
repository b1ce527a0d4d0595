import type { SendSmsRequest } from "../../api/contract/sms.ts";
import { checkLength } from "../../carriers/whole-messages.ts";
import { readPrices, type AllPrices } from "../../money/prices/prices.ts";
import { microsOf } from "../../money/wallet/money.ts";
import { limitsOf, type Actor, type KeyLimits } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { checkWebhookUrl } from "../../platform/http/webhook-target.ts";
import { keys } from "../../platform/table/keys.ts";
import { findTogether } from "../../platform/table/read.ts";
import { findOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";
import type { MessageRecord } from "../message/record.ts";
import { parseSchedule } from "../message/schedule.ts";
import { asTestMessage, isTestRequest, testPrices } from "../message/test-messages.ts";
import { findOptOutRecord, OptOutRecord } from "../opt-outs/record.ts";
import { senderOf } from "../sender-ids/usable.ts";
import { checkKeyLimits } from "./key-limits.ts";
import { newMessage } from "./new-message.ts";
import { placeOf } from "./place.ts";
import { checkMessage, checkTestMessage, mayBeUnwanted, senderRejection } from "./policies.ts";

/** Prepares the messages of one request to send. It reads what they have in common once, when the first one needs it. */
export class Preparation {
  readonly queuedAt = now();
  readonly isTest: boolean;
  readonly limits: KeyLimits | undefined;
  readonly apiKeyId: string | undefined;
  readonly #organization: OrganizationRecord;
  #current: Promise<OrganizationRecord | undefined> | undefined;
  #prices: Promise<AllPrices> | undefined;
  readonly #senders = new Map<string, ReturnType<typeof senderRejection>>();
  readonly #optOuts = new Map<string, OptOutRecord | undefined>();

  /** @throws ApiError INSUFFICIENT_SCOPE for a test message with a live key */
  constructor(
    organization: OrganizationRecord,
    actor: Actor | undefined,
    request: Pick<SendSmsRequest, "test">,
  ) {
    this.#organization = organization;
    this.isTest = isTestRequest(actor, request);
    this.limits = limitsOf(actor);
    const credential = actor?.credential;
    this.apiKeyId = credential?.type === "apiKey" ? credential.keyId : undefined;
  }

  /**
   * Checks a message and returns it with its price. Nothing is reserved or written.
   * @throws ApiError, in this order: VALIDATION_ERROR, the errors of `senderOf`, `checkKeyLimits` and `checkMessage`,
   *   DESTINATION_NOT_PRICED, MESSAGE_TOO_LONG
   */
  async prepare(request: SendSmsRequest & { readonly batchId?: string }): Promise<MessageRecord> {
    if (request.callbackUrl !== undefined) checkWebhookUrl(request.callbackUrl, "callbackUrl");
    const { queuedAt, isTest, limits, apiKeyId } = this;
    const { id: organizationId } = this.#organization;
    const scheduledAt = parseSchedule(request.scheduledAt, queuedAt);
    const sender = senderOf(await this.#organizationFor(request), request, isTest);
    const { to, messageType } = request;
    if (limits !== undefined) checkKeyLimits(limits, to, new Date(scheduledAt ?? queuedAt));
    const reads = {
      senderRejection: async (sending: Parameters<typeof senderRejection>[0]) => {
        const name = JSON.stringify([sending.senderId, sending.from]);
        const found = this.#senders.get(name) ?? senderRejection(sending);
        this.#senders.set(name, found);
        return found;
      },
      findOptOutRecord: async (of: string, number: string) =>
        this.#optOuts.has(number) ? this.#optOuts.get(number) : findOptOutRecord(of, number),
    };
    const checked = { organizationId, to, ...sender, messageType };
    await (isTest ? checkTestMessage : checkMessage)(this.#organization, checked, reads);
    const prices = await this.#readPrices();
    const message = newMessage(
      placeOf(organizationId),
      { ...request, ...sender, scheduledAt, apiKeyId },
      { queuedAt, prices: isTest ? testPrices(prices) : prices },
    );
    if (isTest) return asTestMessage(message);
    await checkLength(message);
    return message;
  }

  /** Returns the fee for an approved verification of a number. */
  async verificationFeeMicros(to: string): Promise<number> {
    return this.isTest ? 0 : (await this.#readPrices()).verificationFeeMicros(to);
  }

  async #readPrices(): Promise<AllPrices> {
    this.#prices ??= readPrices(this.#organization, this.queuedAt);
    return this.#prices;
  }

  /** Whether a person has to approve a message, with a fee. */
  isHeld({ totalMicros }: MessageRecord, feeMicros = 0): boolean {
    const { isTest, limits } = this;
    return !isTest && limits?.holdAbove !== undefined && totalMicros + feeMicros > microsOf(limits.holdAbove);
  }

  /** Reads the wishes of the numbers of many messages, a hundred with one request. */
  async readOptOuts(requests: readonly Pick<SendSmsRequest, "messageType" | "to">[]): Promise<void> {
    const { id, repliesSince } = this.#organization;
    const unclear = requests.filter((request) => mayBeUnwanted(request, repliesSince !== undefined));
    const numbers = [...new Set(unclear.map(({ to }) => to))];
    for (const number of numbers) this.#optOuts.set(number, undefined);
    for (const { key, item } of await findTogether(
      OptOutRecord,
      numbers.map((number) => keys.optOut(id, number)),
    )) {
      // An unreadable record is read again alone, which fails.
      if (item === undefined) this.#optOuts.delete(key.sk);
      else this.#optOuts.set(key.sk, item);
    }
  }

  /** Returns the organization, with its present default if a message names no sender. */
  async #organizationFor({
    senderId,
    from,
  }: Pick<SendSmsRequest, "from" | "senderId">): Promise<OrganizationRecord | undefined> {
    if (senderId !== undefined || from !== undefined) return this.#organization;
    // The given record may not have a new default yet.
    this.#current ??= findOrganization(this.#organization.id, { consistent: true });
    return this.#current;
  }
}
