import type { LocalGateway } from "../../infra/local/gateway.ts";
import { startReceiver } from "../../infra/local/webhook-receiver.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import type { Clock } from "./gateway.ts";
import type { Meter } from "./meter.ts";
import { receiptOperation, settledAfter } from "./receipts.ts";

/** An operation of customers, measured until all its consequences are done. */
export interface Operation {
  readonly name: string;
  /** The preparation, which is not measured. */
  readonly prepare?: () => Promise<unknown>;
  readonly act: () => Promise<unknown>;
  /** The work that happens without it, which is subtracted. */
  readonly besides?: () => Promise<unknown>;
  /** The number of measurements, and the messages in each; the figures are for one message. */
  readonly repeats?: number;
  readonly messages?: number;
}

const campaignSize = 1_000;

/** The operations of customers, each with an account that is ready for it. */
export async function customerOperations(
  gateway: LocalGateway,
  meter: Meter,
  clock: Clock,
): Promise<readonly Operation[]> {
  const anonymous = createClient({ baseUrl: gateway.url });
  const { client: plain } = await openAccount(anonymous, gateway.url);
  const { client: subscriber } = await openAccount(anonymous, gateway.url);
  const { client: campaigner } = await openAccount(anonymous, gateway.url);
  const account = { email: newEmail(), password };
  await anonymous.register({ body: account });
  const { url } = await startReceiver({ onCall: () => undefined });
  await subscriber.createWebhook({ body: { url } });
  let lastNumber = 15_007_000_000;
  const newContact = (): { phoneNumber: string } => ({ phoneNumber: String((lastNumber += 1)) });
  const contacts = Array.from({ length: campaignSize }, newContact);
  await campaigner.importContacts({ body: { contacts } });

  const message = { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" };
  const send = async (client: Client, fields: object = {}): Promise<string> =>
    (await client.sendSms({ body: { ...message, ...fields } })).id;
  const releaseAfter = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await meter.callScheduled("ReleaseScheduledJobs");
  };
  let id = "";
  // A sender that has sent only a few messages writes the figures of each.
  await Promise.all(Array.from({ length: settledAfter }, async () => send(plain)));
  await meter.settle();
  return [
    { name: "send", act: async () => send(plain) },
    { name: "send, with a webhook", act: async () => send(subscriber) },
    {
      name: "send, with an Idempotency-Key",
      act: async () => plain.sendSms({ body: message, idempotencyKey: newId("evt") }),
    },
    {
      name: "verification, approved by its first check",
      act: async () => {
        const { phoneNumber: to } = newContact();
        // A code of the customer's own has the price of another one.
        const code = "123456";
        const started = await plain.startVerification({ body: { to, senderId: "ADASHOP", code } });
        await plain.checkVerification({ body: { id: started.id, code } });
      },
    },
    { name: "send for later", act: async () => send(plain, { scheduledAt: clock.later(20 * minuteMs) }) },
    {
      name: "release of it, and sending",
      prepare: async () => {
        clock.startMinute();
        await send(plain, { scheduledAt: clock.later(20 * minuteMs) });
        // The next release handles the minute in which it is due.
        await releaseAfter(18 * minuteMs);
      },
      act: async () => releaseAfter(2 * minuteMs),
      besides: async () => releaseAfter(2 * minuteMs),
    },
    { name: "send that fails, and its refund", act: async () => send(plain, { to: "15005550001" }) },
    {
      name: "cancellation of a send for later",
      prepare: async () => (id = await send(plain, { scheduledAt: clock.later(48 * hourMs) })),
      act: async () => plain.cancelSms({ params: { id } }),
    },
    {
      name: `campaign to ${campaignSize} contacts, a message`,
      prepare: async () => {
        const fields = {
          name: "Spring",
          message: "hello",
          senderId: "ADASHOP",
          audience: { all: true },
        } as const;
        ({ id } = await campaigner.createCampaign({ body: fields }));
      },
      act: async () => campaigner.launchCampaign({ params: { id } }),
      repeats: 1,
      messages: campaignSize,
    },
    {
      name: `batch of ${campaignSize}, a message`,
      act: async () => {
        const { message: text, senderId } = message;
        const messages = Array.from({ length: campaignSize }, (_, index) => ({
          to: String(15_006_000_000 + index),
        }));
        await plain.sendBatch({ body: { messages, defaults: { message: text, senderId } } });
      },
      repeats: 1,
      messages: campaignSize,
    },
    { name: "top-up", act: async () => plain.topUpWallet({ body: { amount: 1 } }) },
    { name: "GET /v1/wallet", act: async () => plain.getWallet() },
    { name: "GET /v1/sms", act: async () => plain.listSms() },
    {
      name: "GET /v1/sms/{id}",
      prepare: async () => (id = await send(plain)),
      act: async () => plain.getSms({ params: { id } }),
    },
    { name: "GET /v1/dashboard/stats", act: async () => plain.getDashboardStats() },
    {
      name: "register",
      act: async () => anonymous.register({ body: { email: newEmail(), password } }),
    },
    {
      name: "login",
      act: async () => anonymous.login({ body: account }),
    },
    { name: "creation of a contact", act: async () => plain.createContact({ body: newContact() }) },
    // The last one: from then on senders know a route.
    receiptOperation(gateway.url, clock, await openAccount(anonymous, gateway.url)),
  ];
}

const password = "correct horse battery";

/** A customer with money, who calls with an API key: sessions end while the clock is set forward. */
async function openAccount(
  anonymous: Client,
  baseUrl: string,
): Promise<{ client: Client; organizationId: string }> {
  const body = { email: newEmail(), password };
  const { token, organization } = await anonymous.register({ body });
  const { secret } = await createClient({ baseUrl, credential: token }).createApiKey();
  const client = createClient({ baseUrl, credential: secret });
  await client.topUpWallet({ body: { amount: 1_000 } });
  return { client, organizationId: organization.id };
}

function newEmail(): string {
  return `${newId("usr")}@example.com`;
}
