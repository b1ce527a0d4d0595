import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createClient, type Client } from "../../shared/api/client/client.ts";
import type { CampaignRecord } from "../../shared/audience/campaigns/record.ts";
import { contactPuts, type ContactRecord } from "../../shared/audience/contacts/record.ts";
import { newMessage } from "../../shared/messages/accept/new-message.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey, oneShard } from "../../shared/platform/table/shards.ts";
import { type Put, putOf } from "../../shared/platform/table/write.ts";
import { onePrice } from "../support/prices.ts";
import { median, type Figure, type Suite } from "./figures.ts";
import { readLocalStack, startBenchmarkGateway } from "./gateway.ts";
import { Meter, sumOf, type Usage } from "./meter.ts";
import { organizationPuts, TableFile } from "./rows.ts";

// `npm run bench -- growth`: whether a customer's calls cost more as its data grows. It measures a large organization and a
// small one alternately.

const largeMessages = 1_000_000;
const quickMessages = 10_000;
const smallMessages = 1_000;

/** The budget of the project: how much more the calls of the large organization may cost. */
const flat = 1.2;

/** Items that are created at the same time. */
const chunkSize = 1_000;

/** @param messages of the large organization; its contacts are a tenth of them, its campaigns a hundredth */
export function growthSuiteOf(messages: number | undefined): Suite {
  return async ({ isQuick }, note) => {
    const { table } = await readLocalStack();
    const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-growth-"));
    const rows = new TableFile(table, dataFolder);
    const large = messages ?? (isQuick ? quickMessages : largeMessages);
    const written: WrittenCustomer[] = [];
    for (const count of [smallMessages, large]) {
      note(`growth: writing ${count} messages`);
      written.push(writeCustomer(rows, count));
    }
    rows.close();
    const meter = new Meter();
    const gateway = await startBenchmarkGateway({
      interceptor: meter.interceptor,
      log: meter.log,
      dataFolder,
    });
    await meter.watch(gateway);
    const customers = written.map(({ secret, ...ids }) => ({
      ...ids,
      client: createClient({ baseUrl: gateway.url, credential: secret }),
    }));
    const figures: Figure[] = [];
    const rounds = isQuick ? 5 : 31;
    for (const [what, call] of Object.entries(calls)) {
      note(`growth: ${what}`);
      const isSend = what === "a send";
      const [ofSmall, ofLarge] = await measure(meter, customers, { call, rounds, isSend });
      if (ofSmall === undefined || ofLarge === undefined) throw new Error(`${what} was not measured`);
      const add = (name: string, unit: string, valueOf: (cost: Cost) => number): void =>
        void figures.push(
          {
            suite: "growth",
            what: `${what}, ${smallMessages} messages: ${name}`,
            value: valueOf(ofSmall),
            unit,
          },
          {
            suite: "growth",
            what: `${what}, ${large} messages: ${name}`,
            value: valueOf(ofLarge),
            unit,
            atMost: flat * valueOf(ofSmall),
          },
        );
      add("write units", "units", ({ writeUnits }) => writeUnits);
      add("read units", "units", ({ readUnits }) => readUnits);
      add("median", "ms", ({ medianMs }) => medianMs);
    }
    await gateway.stop();
    await rm(dataFolder, { recursive: true });
    return figures;
  };
}

interface Customer {
  readonly client: Client;
  /** Ids in the middle of all items. */
  readonly messageId: string;
  readonly contactId: string;
  readonly campaignId: string;
}

const calls: Readonly<Record<string, (customer: Customer) => Promise<unknown>>> = {
  "first page of messages": async ({ client }) => client.listSms(),
  "later page of messages": async ({ client, messageId }) =>
    client.listSms({ query: { cursor: cursorAt(messageId) } }),
  "a message": async ({ client, messageId }) => client.getSms({ params: { id: messageId } }),
  "first page of contacts": async ({ client }) => client.listContacts(),
  "later page of contacts": async ({ client, contactId }) =>
    client.listContacts({ query: { cursor: cursorAt(contactId) } }),
  "first page of campaigns": async ({ client }) => client.listCampaigns(),
  "later page of campaigns": async ({ client, campaignId }) =>
    client.listCampaigns({ query: { cursor: cursorAt(campaignId) } }),
  "a campaign": async ({ client, campaignId }) => client.getCampaign({ params: { id: campaignId } }),
  "the dashboard": async ({ client }) => client.getDashboardStats(),
  "a send": async ({ client }) =>
    client.sendSms({ body: { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" } }),
};

/** The cursor of the page after an item, as `platform/table/page.ts` makes it. */
function cursorAt(id: string): string {
  return Buffer.from(id).toString("base64url");
}

interface Cost extends Pick<Usage, "readUnits" | "writeUnits"> {
  /** How long the customer waited. */
  readonly medianMs: number;
}

interface Repeated {
  readonly call: (customer: Customer) => Promise<unknown>;
  readonly rounds: number;
  readonly isSend: boolean;
}

/** The cost of a call of each customer with all its consequences. */
async function measure(
  meter: Meter,
  customers: readonly Customer[],
  { call, rounds, isSend }: Repeated,
): Promise<readonly Cost[]> {
  const measured = customers.map((customer) => ({ customer, usages: [] as Usage[], tookMs: [] as number[] }));
  for (const { customer } of measured) await call(customer);
  await meter.settle();
  for (let round = 0; round < rounds; round += 1) {
    for (const { customer, usages, tookMs } of measured) {
      meter.take();
      const startedAt = performance.now();
      await call(customer);
      tookMs.push(performance.now() - startedAt);
      // A read has no consequences.
      if (isSend) await meter.settle();
      usages.push(sumOf([...meter.take().byFunction.values()]));
    }
  }
  return measured.map(({ usages, tookMs }) => {
    const { readUnits, writeUnits } = sumOf(usages);
    return { readUnits: readUnits / rounds, writeUnits: writeUnits / rounds, medianMs: median(tookMs) };
  });
}

/** A customer before there is a gateway. */
interface WrittenCustomer extends Omit<Customer, "client"> {
  /** The secret of the API key. */
  readonly secret: string;
}

function writeCustomer(writer: TableFile, messageCount: number): WrittenCustomer {
  // A small one has several pages of each too.
  const [contactCount, campaignCount] = [messageCount / 10, Math.max(100, messageCount / 100)];
  const size = { messageCount, contactCount, campaignCount };
  const { organizationId, secret, puts } = organizationPuts(1_000_000_000, size);
  writer.write(puts);
  return {
    secret,
    messageId: writeMany(writer, messageCount, () => messageRows(organizationId)),
    contactId: writeMany(writer, contactCount, (index) => contactRows(organizationId, index)),
    campaignId: writeMany(writer, campaignCount, () => campaignRows(organizationId)),
  };
}

/** The rows of one entity, with its id. */
interface Rows {
  readonly id: string;
  readonly puts: readonly Put[];
}

/** @returns the id in the middle */
function writeMany(writer: TableFile, count: number, rowsOf: (index: number) => Rows): string {
  let middle = "";
  for (let start = 0; start < count; start += chunkSize) {
    const length = Math.min(chunkSize, count - start);
    const chunk = Array.from({ length }, (_, index) => rowsOf(start + index));
    writer.write(chunk.flatMap(({ puts }) => puts));
    middle = chunk.find((_, index) => start + index === Math.floor(count / 2))?.id ?? middle;
  }
  return middle;
}

function messageRows(organizationId: string): Rows {
  const queuedAt = new Date();
  const request = { to: "15005550000", message: "hello", senderId: "ADASHOP", language: "English" } as const;
  const record: MessageRecord = {
    ...newMessage({ organizationId, ...oneShard }, request, { queuedAt, prices: onePrice }),
    status: "sent",
    attempts: 1,
    sentAt: queuedAt.toISOString(),
  };
  return { id: record.id, puts: [putOf(messageKey(record), record)] };
}

function contactRows(organizationId: string, index: number): Rows {
  const createdAt = new Date().toISOString();
  const record: ContactRecord = {
    entity: "contact",
    id: newId("con"),
    organizationId,
    phoneNumber: String(15_000_000_000 + index),
    tags: [],
    attributes: {},
    optedOut: false,
    version: 1,
    createdAt,
    updatedAt: createdAt,
  };
  const [contact, number] = contactPuts(record, record);
  return { id: record.id, puts: [contact, number] };
}

/** A campaign that is over, with its counters. */
function campaignRows(organizationId: string): Rows {
  const createdAt = new Date().toISOString();
  const record: CampaignRecord = {
    entity: "campaign",
    id: newId("cmp"),
    organizationId,
    name: "Spring",
    status: "completed",
    message: "hello",
    audience: { all: true },
    senderId: "ADASHOP",
    language: "English",
    messageType: "marketing",
    version: 1,
    createdAt,
    startedAt: createdAt,
    endedAt: createdAt,
    position: "",
    lastMessageIds: [],
    accepted: 100,
    chargedMicros: 790_000,
    skippedOptedOut: 0,
    skippedUnrenderable: 0,
    skippedUnknown: 0,
    skippedDestinationNotAllowed: 0,
    skippedDestinationNotPriced: 0,
    skippedRecipientRateExceeded: 0,
    skippedSenderNotAllowed: 0,
  };
  const counts = {
    entity: "messageCounts",
    accepted: 100,
    sent: 100,
    changes: 200,
    closedAt: createdAt,
  } as const;
  return {
    id: record.id,
    puts: [
      putOf(keys.campaign(organizationId, record.id), record),
      putOf(keys.campaignCounts(organizationId, record.id), counts),
    ],
  };
}
