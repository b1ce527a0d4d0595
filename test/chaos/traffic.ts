import { AcceptedMessage } from "../../shared/contract/sms.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { spreadOrganization } from "../../shared/wallet/record.ts";
import { Customer, dataOf, type ApiResponse } from "../support/api.ts";
import { importContacts, numberOf } from "../support/contacts.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { routedPrefix } from "./carriers.ts";
import { between, oneOf, randomFrom, type Random } from "./random.ts";

/** Numbers that the sandbox puts off at first, so that they can wait for a carrier to come back. */
export const patientNumbers: readonly string[] = ["15005550003", "15005550004"];
/** Numbers that the sandbox refuses. */
export const refusedNumbers: readonly string[] = ["15005550001", "15005550002", "15005550006"];
/** Numbers that it takes at once, and more of them than of the others. */
const acceptedNumbers: readonly string[] = [
  "15005550000",
  "15005550005",
  "15005550010",
  "15005550011",
  "15005550009",
];

/** Numbers of the two carriers, which do with them what they want. */
const routedNumbers: readonly string[] = Array.from(
  { length: 5 },
  (_, index) => `${routedPrefix}770090012${index}`,
);

/** Requests that are under way at once. */
const concurrency = 16;

/** Of a customer whose sends are never to be lost. */
const keyedConcurrency = 8;
/** After how many sends such a customer reads its latest message. */
const sendsPerRead = 10;

/** How often a request that can be repeated is sent before it is left for later. */
const maxTries = 3;

/** How many of the calls an endpoint does not take. */
const brokenCallOdds = 0.02;

/** A message that somebody asked for; its text tells it from all others. */
export interface Send {
  readonly tenant: Tenant;
  readonly text: string;
  readonly to: string;
  readonly idempotencyKey: string | undefined;
  readonly scheduledAt: string | undefined;
  /** The status of each answer, and the ids in those with a 202. */
  readonly statuses: number[];
  readonly ids: Set<string>;
  readonly cancelStatuses: number[];
}

export interface TopUp {
  readonly idempotencyKey: string | undefined;
  readonly statuses: number[];
}

/** An organisation, with all that it asked for and was answered. */
export interface Tenant {
  readonly customer: Customer;
  readonly organizationId: string;
  /** The endpoint of its webhook, if it has one, and the secret that calls are signed with. */
  readonly webhook:
    | { readonly id: string; readonly secret: string; readonly receiver: WebhookReceiver }
    | undefined;
  /** Campaigns to all of its contacts. */
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
  /** In how many parts its messages are kept. */
  readonly messageParts?: number;
}

/** What customers do to a gateway, chosen by chance. */
export class Traffic {
  readonly tenants: Tenant[] = [];
  readonly #baseUrl: string;
  /** What the customers do, and by itself, for its calls come when they come, what their endpoints answer. */
  readonly #random: Random;
  readonly #answerRandom: Random;
  readonly #now: () => Date;
  #count = 0;

  /** @param now the functions' clock */
  constructor(baseUrl: string, seed: number, now: () => Date) {
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

  /** Registers a customer whose wallet is filled, and whose contacts and campaigns are there. */
  async addTenant(options: TenantOptions): Promise<void> {
    const { balance, contacts, campaigns, hasWebhook, messageParts = 1 } = options;
    const registered = await Customer.register({ balance, baseUrl: this.#baseUrl });
    await spreadOrganization(registered.organizationId, messageParts, 100);
    // A session would be over before the run is.
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

  /** Sends of all kinds, with the cancels and top-ups that go with them. */
  async sendSome(count: number): Promise<void> {
    await this.#sideBySide(count, async () => {
      const send = this.#newSend(
        oneOf(this.#random, [...acceptedNumbers, ...patientNumbers, ...refusedNumbers, ...routedNumbers]),
      );
      const isCancelled = send.scheduledAt !== undefined && this.#random() < 0.4;
      const isRepeated = this.#random() < 0.2;
      const topUp = this.#random() < 0.05 ? this.#newTopUp(send.tenant) : undefined;
      await this.#send(send);
      if (isRepeated && send.idempotencyKey !== undefined) await this.#send(send);
      if (isCancelled) await cancel(send);
      if (topUp !== undefined) await repeatable(topUp, async () => this.#topUp(send.tenant, topUp));
    });
  }

  /** Messages that are due at once and wait while the carrier is out. */
  async sendPatient(count: number): Promise<void> {
    await this.#sideBySide(count, async () =>
      this.#send({ ...this.#newSend(oneOf(this.#random, patientNumbers)), scheduledAt: undefined }),
    );
  }

  /**
   * Sends with an Idempotency-Key, each due at once and to numbers that a carrier takes or refuses, without a pause until
   * it is over; reads an accepted message now and then.
   * @param onAnswer called with each accepted message's id
   * @throws Error when an accepted message is not there
   */
  async sendKeyed(isOver: () => boolean, onAnswer: (id: string) => void): Promise<void> {
    const worker = async (): Promise<void> => {
      for (let sends = 1; !isOver(); sends += 1) {
        const to = oneOf(this.#random, [...acceptedNumbers, ...refusedNumbers, ...routedNumbers]);
        const send = { ...this.#newSend(to), scheduledAt: undefined, idempotencyKey: `send-${this.#count}` };
        await this.#send(send);
        const [id] = send.ids;
        if (id === undefined) continue;
        onAnswer(id);
        if (sends % sendsPerRead !== 0 || isOver()) continue;
        const { status } = await answered(send.tenant.customer.call(`/v1/sms/${id}`));
        if (status !== 200 && status !== noAnswer)
          throw new Error(`${id} was accepted, its GET says ${status}`);
      }
    };
    await Promise.all(Array.from({ length: keyedConcurrency }, worker));
  }

  /** Sends again what has an Idempotency-Key and whose last answer does not say what became of it. */
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

  /** Launches all campaigns. Launching one again changes nothing, or is refused when it is completed. */
  async launchCampaigns(): Promise<void> {
    const launches = this.tenants.flatMap(({ customer, campaignIds }) =>
      campaignIds.map(async (id) => customer.call(`/v1/campaigns/${id}/launch`, { method: "POST" })),
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
      const answer = await tenant.customer.call("/v1/sms/send", {
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

  async #topUp({ customer }: Tenant, { idempotencyKey }: TopUp): Promise<ApiResponse> {
    return customer.call("/v1/wallet/top-up", {
      json: { amount: topUpAmount },
      headers: keyHeader(idempotencyKey),
    });
  }

  /** Does something so many times, a few at once. */
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

/** What each top-up after the first one adds, in USD. */
export const topUpAmount = 1;

/** Noted in place of a status when the connection broke before the answer. */
const noAnswer = 0;

/** Whether an answer says for good what became of a request. */
export function isDefinite(status: number): boolean {
  return status !== noAnswer && status < 500 && status !== 409;
}

/** The status of an answer, or `noAnswer`: fetch reports a connection that broke as a TypeError. */
async function answered(response: Promise<ApiResponse>): Promise<{ readonly status: number }> {
  return response.catch((error: unknown) => {
    if (error instanceof TypeError) return { status: noAnswer };
    throw error;
  });
}

/** Makes a request and notes what it was answered; with an Idempotency-Key a few times if that says nothing. */
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

async function cancel({ tenant, ids, cancelStatuses }: Send): Promise<void> {
  const [id] = ids;
  if (id === undefined) return;
  const { status } = await tenant.customer.call(`/v1/sms/${id}`, { method: "DELETE" });
  cancelStatuses.push(status);
}

function keyHeader(idempotencyKey: string | undefined): Record<string, string> {
  return idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
}
