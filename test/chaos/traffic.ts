import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { reshard } from "../../shared/platform/table/shards.ts";
import { Customer, dataOf, type ApiCall, type ApiResponse } from "../support/api.ts";
import { importContacts, numberOf } from "../support/contacts.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { acceptedNumbers, patientNumbers, rejectedNumbers, routedNumbers } from "./numbers.ts";
import { between, oneOf, randomFrom, type Random } from "./random.ts";
import { answered, isDefinite, noAnswer } from "./responses.ts";

/** The number of simultaneous requests. */
const concurrency = 16;

/** The same for customers whose sends must never be lost. */
const keyedConcurrency = 8;
/** The number of sends after which such a customer reads its latest message. */
const sendsPerRead = 10;

/** How often a repeatable request is sent before it is left for later. */
const maxTries = 3;

/** The share of calls that an endpoint does not accept. */
const brokenCallOdds = 0.02;

/** A requested message, with a text that distinguishes it from all others. */
export interface Send {
  readonly tenant: Tenant;
  readonly text: string;
  readonly to: string;
  readonly idempotencyKey: string | undefined;
  readonly scheduledAt: string | undefined;
  /** The status of each response, and the ids in those with a 202. */
  readonly statuses: number[];
  readonly ids: Set<string>;
  readonly cancelStatuses: number[];
}

export interface TopUp {
  readonly idempotencyKey: string | undefined;
  readonly statuses: number[];
}

/** An organization, with all its requests and the responses to them. */
export interface Tenant {
  readonly customer: Customer;
  readonly organizationId: string;
  /** Its webhook endpoint, if any, and the secret that signs the calls. */
  readonly webhook:
    | { readonly id: string; readonly secret: string; readonly receiver: WebhookReceiver }
    | undefined;
  /** Campaigns to all its contacts. */
  readonly campaignIds: readonly string[];
  readonly contacts: readonly string[];
  readonly sends: Send[];
  readonly topUps: TopUp[];
}

interface TenantOptions {
  readonly balance: number;
  readonly contacts: number;
  readonly campaigns: number;
  readonly hasWebhook: boolean;
  /** The number of shards of its messages. */
  readonly shards?: number;
}

/** The actions of customers on a gateway, chosen at random. */
export class Traffic {
  readonly tenants: Tenant[] = [];
  readonly #baseUrl: () => string;
  /** Chooses the customers' actions. The endpoints' responses have their own numbers, because calls come at any time. */
  readonly #random: Random;
  readonly #answerRandom: Random;
  readonly #now: () => Date;
  #count = 0;

  /**
   * @param baseUrl returns the gateway of the next request
   * @param now the functions' clock
   */
  constructor(baseUrl: () => string, seed: number, now: () => Date) {
    this.#baseUrl = baseUrl;
    this.#random = randomFrom(seed);
    this.#answerRandom = randomFrom(seed + 1);
    this.#now = now;
  }

  async stop(): Promise<void> {
    await Promise.all(this.tenants.map(async ({ webhook }) => webhook?.receiver.stop()));
  }

  get sends(): Send[] {
    return this.tenants.flatMap(({ sends }) => sends);
  }

  /** Registers a customer with money, contacts and campaigns. */
  async addTenant(options: TenantOptions): Promise<void> {
    const { balance, contacts, campaigns, hasWebhook, shards = 1 } = options;
    const registered = await Customer.register({ balance, baseUrl: this.#baseUrl() });
    await reshard(registered.organizationId, shards, 100);
    // A session would expire during the run.
    const customer = await registered.withApiKey();
    await importContacts(customer, contacts);
    const campaignIds: string[] = [];
    for (let count = 0; count < campaigns; count += 1) {
      const body = { name: "Spring", message: "hello", audience: { all: true as const }, senderId: "ACME" };
      campaignIds.push((await customer.client.createCampaign({ body })).id);
    }
    this.tenants.push({
      customer,
      organizationId: customer.organizationId,
      webhook: hasWebhook ? await this.#addWebhook(customer) : undefined,
      campaignIds,
      contacts: Array.from({ length: contacts }, (_, index) => numberOf(index)),
      sends: [],
      topUps: [],
    });
  }

  async #addWebhook(customer: Customer): Promise<Tenant["webhook"]> {
    const receiver = await startWebhookReceiver(() => (this.#answerRandom() < brokenCallOdds ? 500 : 204));
    const { id, secret } = await customer.client.createWebhook({ body: { url: receiver.url } });
    return { id, secret, receiver };
  }

  /** Sends messages of all kinds, with cancellations and top-ups. */
  async sendSome(count: number): Promise<void> {
    await this.#sideBySide(count, async () => {
      const send = this.#newSend(
        oneOf(this.#random, [...acceptedNumbers, ...patientNumbers, ...rejectedNumbers, ...routedNumbers]),
      );
      const isCancelled = send.scheduledAt !== undefined && this.#random() < 0.4;
      const isRepeated = this.#random() < 0.2;
      const topUp = this.#random() < 0.05 ? this.#newTopUp(send.tenant) : undefined;
      await this.#send(send);
      if (isRepeated && send.idempotencyKey !== undefined) await this.#send(send);
      if (isCancelled) await this.#cancel(send);
      if (topUp !== undefined) await repeatable(topUp, async () => this.#topUp(send.tenant, topUp));
    });
  }

  /** Sends messages that are due immediately and wait while the carrier fails. */
  async sendPatient(count: number): Promise<void> {
    await this.#sideBySide(count, async () =>
      this.#send({ ...this.#newSend(oneOf(this.#random, patientNumbers)), scheduledAt: undefined }),
    );
  }

  /**
   * Sends messages with an Idempotency-Key without pause until it is over. They are due immediately, to numbers that carriers
   * accept or reject. Reads an accepted message now and then.
   * @param onAnswer called with each accepted message's id
   * @throws Error when an accepted message is not there
   */
  async sendKeyed(isOver: () => boolean, onAnswer: (id: string) => void): Promise<void> {
    const worker = async (): Promise<void> => {
      for (let sends = 1; !isOver(); sends += 1) {
        const to = oneOf(this.#random, [...acceptedNumbers, ...rejectedNumbers, ...routedNumbers]);
        const send = { ...this.#newSend(to), scheduledAt: undefined, idempotencyKey: `send-${this.#count}` };
        await this.#send(send);
        const [id] = send.ids;
        if (id === undefined) continue;
        onAnswer(id);
        if (sends % sendsPerRead !== 0 || isOver()) continue;
        const { status } = await answered(this.#call(send.tenant, `/v1/sms/${id}`));
        if (status !== 200 && status !== noAnswer)
          throw new Error(`${id} was accepted, its GET returned ${status}`);
      }
    };
    await Promise.all(Array.from({ length: keyedConcurrency }, worker));
  }

  /** Repeats the requests with an Idempotency-Key whose last response does not show their outcome. */
  async repeatUnanswered(): Promise<void> {
    const unanswered = this.sends.filter(
      ({ idempotencyKey, statuses }) => idempotencyKey !== undefined && !isDefinite(statuses.at(-1) ?? 500),
    );
    await this.#sideBySide(unanswered.length, async (index) => {
      const send = unanswered[index];
      if (send !== undefined) await this.#send(send);
    });
    for (const tenant of this.tenants) {
      for (const topUp of tenant.topUps) {
        if (topUp.idempotencyKey === undefined || topUp.statuses.some(isDefinite)) continue;
        await repeatable(topUp, async () => this.#topUp(tenant, topUp));
      }
    }
  }

  /** Launches all campaigns. A repeated launch changes nothing, or is rejected when the campaign is completed. */
  async launchCampaigns(): Promise<void> {
    const launches = this.tenants.flatMap((tenant) =>
      tenant.campaignIds.map(async (id) =>
        this.#call(tenant, `/v1/campaigns/${id}/launch`, { method: "POST" }),
      ),
    );
    await Promise.all(launches);
  }

  #newSend(to: string): Send {
    const random = this.#random;
    const tenant = oneOf(random, this.tenants);
    this.#count += 1;
    const aheadMinutes = random() < 0.9 ? between(random, 1, 10) : between(random, 16, 40);
    const scheduledAt = new Date(this.#now().getTime() + aheadMinutes * minuteMs).toISOString();
    const isScheduled = random() < 0.15;
    const hasKey = random() < 0.5;
    return {
      tenant,
      text: `message ${this.#count}`,
      to,
      idempotencyKey: hasKey ? `send-${this.#count}` : undefined,
      scheduledAt: isScheduled ? scheduledAt : undefined,
      statuses: [],
      ids: new Set(),
      cancelStatuses: [],
    };
  }

  async #send(send: Send): Promise<void> {
    const { tenant, to, text, scheduledAt, idempotencyKey } = send;
    if (!tenant.sends.includes(send)) tenant.sends.push(send);
    await repeatable(send, async () => {
      const answer = await this.#call(tenant, "/v1/sms/send", {
        json: { to, message: text, senderId: "ACME", ...(scheduledAt === undefined ? {} : { scheduledAt }) },
        headers: keyHeader(idempotencyKey),
      });
      if (answer.status === 202) send.ids.add(dataOf(answer, AcceptedMessage).id);
      return answer;
    });
  }

  #newTopUp(tenant: Tenant): TopUp {
    this.#count += 1;
    const hasKey = this.#random() < 0.5;
    const topUp = { idempotencyKey: hasKey ? `top-up-${this.#count}` : undefined, statuses: [] };
    tenant.topUps.push(topUp);
    return topUp;
  }

  async #topUp(tenant: Tenant, { idempotencyKey }: TopUp): Promise<ApiResponse> {
    return this.#call(tenant, "/v1/wallet/top-up", {
      json: { amount: topUpAmount },
      headers: keyHeader(idempotencyKey),
    });
  }

  async #call({ customer }: Tenant, path: string, options: ApiCall = {}): Promise<ApiResponse> {
    return customer.call(path, { baseUrl: this.#baseUrl(), ...options });
  }

  async #cancel({ tenant, ids, cancelStatuses }: Send): Promise<void> {
    const [id] = ids;
    if (id === undefined) return;
    const { status } = await this.#call(tenant, `/v1/sms/${id}`, { method: "DELETE" });
    cancelStatuses.push(status);
  }

  /** Performs an action a number of times, a few at the same time. */
  async #sideBySide(count: number, act: (index: number) => Promise<void>): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (;;) {
        const index = next;
        next += 1;
        if (index >= count) return;
        await act(index);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }
}

/** The amount of each top-up after the first one, in USD. */
export const topUpAmount = 1;

/** Makes a request and notes its status. Repeats it up to the maximum if it has an Idempotency-Key and no clear outcome. */
async function repeatable(
  asked: { readonly idempotencyKey: string | undefined; readonly statuses: number[] },
  request: () => Promise<ApiResponse>,
): Promise<void> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const { status } = await answered(request());
    asked.statuses.push(status);
    if (asked.idempotencyKey === undefined || isDefinite(status) || status === noAnswer) return;
  }
}

function keyHeader(idempotencyKey: string | undefined): Record<string, string> {
  return idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
}
