import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import type { Message } from "../../shared/api/contract/sms.ts";
import { longTexts } from "../cases/long-texts.ts";
import { patience } from "../support/patience.ts";
import { freePort } from "../support/ports.ts";
import { Kannel, kannelCredentials, unroutablePrefix } from "./kannel.ts";
import { rejectedNumber, Smsc } from "./smsc.ts";

/*
 * The whole way over SMPP. The gateway is that of a laptop. The operator's commands create its carrier, which is Debian's
 * Kannel. Kannel is connected to a carrier that speaks SMPP.
 */

/** A message whose carrier could not be reached is tried again after up to two minutes. */
const longPatience = { timeout: 240_000, interval: 500 };

const number = "12025550100";

let dataFolder: string;
let gateway: LocalGateway;
let smsc: Smsc;
let kannel: Kannel;
let client: Client;

beforeAll(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  gateway = await startLocalGateway({
    ...(await synthesizeLocalStack()),
    port: 0,
    dataFolder,
    log: () => undefined,
  });
  smsc = await Smsc.start();
  const sendsmsPort = await freePort();
  const settings = { kind: "kannel", url: `http://127.0.0.1:${sendsmsPort}/cgi-bin/sendsms` };
  await operator(
    "carriers",
    "set",
    "london",
    "--settings",
    await fileWith("settings.json", settings),
    "--credentials",
    await fileWith("credentials.json", kannelCredentials),
  );
  const shown = await operator("carriers", "show", "london", "--callbacks", "--json");
  const { inboundUrl } = z.object({ inboundUrl: z.string() }).parse(JSON.parse(shown));
  kannel = await Kannel.start({ smscPort: smsc.port, sendsmsPort, inboundUrl });
  await operator("routes", "set", "default", "--carriers", "london");
  client = await newCustomer();
  await vi.waitFor(() => {
    if (!smsc.isConnected) throw new Error("Kannel has not bound to the carrier yet");
  }, patience);
});

afterAll(async () => {
  await kannel.stop();
  await smsc.disconnect();
  await gateway.stop();
  await rm(dataFolder, { recursive: true });
});

beforeEach(() => {
  smsc.sendsReceipts = false;
});

async function fileWith(name: string, content: unknown): Promise<string> {
  const file = path.join(dataFolder, name);
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** Runs one of the operator's commands on this gateway. @returns its output */
async function operator(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, DATA_DIR: dataFolder };
  return (await promisify(execFile)(process.execPath, ["infra/operator/main.ts", ...args], { env })).stdout;
}

async function newCustomer(): Promise<Client> {
  const anyone = createClient({ baseUrl: gateway.url });
  const { token, organization } = await anyone.register({
    body: { email: "ada@example.com", password: "correct horse" },
  });
  const customer = createClient({ baseUrl: gateway.url, credential: token });
  await customer.topUpWallet({ body: { amount: 100 } });
  await operator("numbers", "assign", number, organization.id);
  return customer;
}

async function send(message: string, to = "15005550000", fields: object = {}): Promise<{ id: string }> {
  return client.sendSms({ body: { to, message, senderId: "ADASHOP", ...fields } });
}

async function messageOf(id: string): Promise<Message> {
  return client.getSms({ params: { id } });
}

function textsTo(to: string): string[] {
  return smsc.received.filter((part) => part.to === to).map(({ text }) => text);
}

it("a message is sent once under its sender ID, and its receipt becomes its delivery", async () => {
  const { id } = await send("Your code is 123456", "15005550001");
  await vi.waitFor(() => expect(textsTo("15005550001")).toEqual(["Your code is 123456"]), patience);
  const part = smsc.received.find(({ to }) => to === "15005550001");
  expect(part).toMatchObject({ from: "ADASHOP", coding: 0, wantsReceipt: true, part: undefined });
  await vi.waitFor(async () => {
    expect(await messageOf(id)).toMatchObject({ status: "sent", delivery: { status: "pending" } });
  }, patience);
  if (part !== undefined) await smsc.sendReceipt(part, "EXPIRED");
  await vi.waitFor(async () => {
    const { delivery } = await messageOf(id);
    expect(delivery).toMatchObject({ status: "undelivered", errorCode: "DELIVERY_EXPIRED" });
  }, patience);
});

it("a long message travels in parts, one of which brings its receipt", async () => {
  smsc.sendsReceipts = true;
  const text = "A long message. ".repeat(20).trim();
  const { id } = await send(text, "15005550002");
  await vi.waitFor(() => expect(textsTo("15005550002")).toHaveLength(3), patience);
  const parts = smsc.received.filter(({ to }) => to === "15005550002");
  const inOrder = parts.toSorted((one, other) => (one.part ?? 0) - (other.part ?? 0));
  expect(inOrder.map(({ part }) => part)).toEqual([1, 2, 3]);
  expect(inOrder.map((part) => part.text).join("")).toBe(text);
  expect((await messageOf(id)).pricing.segments).toBe(3);
  await vi.waitFor(async () => expect((await messageOf(id)).delivery?.status).toBe("delivered"), patience);
});

it("no text is cut: Kannel submits the parts that are charged, and 1,600 emoji in one less", async () => {
  const sent = await Promise.all(
    longTexts.map(async ([name, text], index) => {
      const to = String(15_005_561_000 + index);
      const { pricing } = await client.sendSms({ body: { to, message: text, senderId: "ADASHOP" } });
      return { name, text, to, segments: pricing.segments };
    }),
  );
  expect(sent).toHaveLength(57);
  await vi.waitFor(() => {
    const differences = sent.flatMap(({ name, text, to, segments }) => {
      const parts = textsTo(to);
      const isWhole = parts.join("") === text;
      return isWhole && parts.length === segments ? [] : [{ name, segments, parts: parts.length, isWhole }];
    });
    expect(differences).toEqual([{ name: "1,600 emoji", segments: 49, parts: 48, isWhole: true }]);
  }, patience);
});

it("a message in other characters arrives as it was written", async () => {
  const text = "Привет, 世界! Ünïcode €";
  await send(text, "15005550003");
  await vi.waitFor(() => expect(textsTo("15005550003")).toEqual([text]), patience);
  expect(smsc.received.find(({ to }) => to === "15005550003")?.coding).toBe(8);
});

it("a message that the carrier rejects after Kannel accepted it was sent, and is not delivered", async () => {
  const { id } = await send("to an unassigned number", rejectedNumber);
  await vi.waitFor(async () => {
    expect(await messageOf(id)).toMatchObject({
      status: "sent",
      delivery: { status: "undelivered", errorCode: "DELIVERY_INVALID_DESTINATION" },
    });
  }, patience);
});

it("a message that no link of Kannel accepts fails, and is refunded", async () => {
  const { balance } = await client.getWallet();
  const { id } = await send("to nowhere", `${unroutablePrefix}0000`);
  await vi.waitFor(async () => {
    expect(await messageOf(id)).toMatchObject({ status: "failed", errorCode: "MESSAGE_UNROUTABLE" });
    expect((await client.getWallet()).balance).toBe(balance);
  }, patience);
});

it("an inbound message reaches the owner of the number, and its STOP counts", async () => {
  const from = "15005550004";
  await smsc.bring({ from, to: number, text: "Спасибо & goodbye?" });
  await smsc.bring({ from, to: number, text: "Stop" });
  await vi.waitFor(async () => {
    const { rows } = await client.listInbound();
    expect(rows.map(({ message }) => message).toSorted()).toEqual(["Stop", "Спасибо & goodbye?"]);
    expect(rows.map((row) => row.from)).toEqual([from, from]);
  }, patience);
  await vi.waitFor(async () => {
    expect(await client.getOptOut({ params: { phoneNumber: from } })).toMatchObject({ source: "reply" });
  }, patience);
  await expect(send("a sale", from, { messageType: "marketing" })).rejects.toMatchObject({
    code: "RECIPIENT_OPTED_OUT",
  });
});

it("the parts of long inbound messages are joined in any order, and a repeated part counts once", async () => {
  const [first, second, third] = ["15005552001", "15005552002", "15005552003"] as const;
  const parts = [
    [first, 7, 2, "two four"],
    [first, 7, 1, "one three "],
    [second, 8, 1, "ar"],
    [third, 8, 1, "x "],
    [second, 8, 2, "rêt"],
    [third, 8, 1, "x "],
    [third, 8, 2, "y"],
  ] as const;
  for (const [from, reference, part, text] of parts) {
    await smsc.bringPart({ from, to: number, text }, { reference, total: 2, part });
  }
  await vi.waitFor(async () => {
    const { rows } = await client.listInbound();
    const joined = new Map(rows.map(({ from, message }) => [from, message]));
    expect([first, second, third].map((from) => joined.get(from))).toEqual([
      "one three two four",
      "arrêt",
      "x y",
    ]);
    expect(await client.getOptOut({ params: { phoneNumber: second } })).toMatchObject({ source: "reply" });
  }, patience);
});

it("inbound texts in other characters arrive as they were written, and their STOP counts", async () => {
  const stops = ["Arrêt", "ARRÊT", "Désabonner", "стоп", "退订", "Stop 🙂"];
  const texts = [...stops, "Détail reçu", "price 5 € “ok”"];
  const senderOf = (index: number): string => String(15_005_551_000 + index);
  for (const [index, text] of texts.entries()) await smsc.bring({ from: senderOf(index), to: number, text });
  await vi.waitFor(async () => {
    const { rows } = await client.listInbound();
    const received = new Map(rows.map(({ from, message }) => [from, message]));
    expect(texts.map((_, index) => received.get(senderOf(index)))).toEqual(texts);
    const { rows: optOuts } = await client.listOptOuts({ query: { limit: 100 } });
    const optedOut = texts.filter((_, index) =>
      optOuts.some(({ phoneNumber }) => phoneNumber === senderOf(index)),
    );
    expect(optedOut).toEqual(stops);
  }, patience);
});

it("messages during an interruption of the link are sent once, when it is back", async () => {
  await smsc.disconnect();
  const ids = await Promise.all(
    ["one", "two", "three"].map(async (text) => (await send(text, "15005550005")).id),
  );
  await vi.waitFor(async () => {
    const statuses = await Promise.all(ids.map(async (id) => (await messageOf(id)).status));
    expect(statuses).toEqual(["sent", "sent", "sent"]);
  }, patience);
  expect(textsTo("15005550005")).toEqual([]);
  // Kannel responded that it only queues them, which the operator sees.
  const Buffered = z.object({ attempts: z.array(z.looseObject({ outcome: z.string(), code: z.string() })) });
  for (const id of ids) {
    const { attempts } = Buffered.parse(JSON.parse(await operator("messages", "show", id, "--json")));
    expect(attempts).toMatchObject([{ carrier: "london", outcome: "buffered", code: "HTTP202.3" }]);
  }
  smsc.sendsReceipts = true;
  await smsc.connect();
  await vi.waitFor(async () => {
    const deliveries = await Promise.all(ids.map(async (id) => (await messageOf(id)).delivery?.status));
    expect(deliveries).toEqual(["delivered", "delivered", "delivered"]);
  }, longPatience);
  expect(textsTo("15005550005").toSorted()).toEqual(["one", "three", "two"]);
});

it("messages while Kannel is dead wait until it is back, and those in its spool are not lost", async () => {
  await smsc.disconnect();
  const { id: kept } = await send("kept by Kannel", "15005550006");
  await vi.waitFor(async () => expect((await messageOf(kept)).status).toBe("sent"), patience);
  await kannel.kill();
  const { id: waiting } = await send("kept by us", "15005550006");
  await smsc.connect();
  smsc.sendsReceipts = true;
  await kannel.run();
  await vi.waitFor(async () => {
    const deliveries = [
      (await messageOf(kept)).delivery?.status,
      (await messageOf(waiting)).delivery?.status,
    ];
    expect(deliveries).toEqual(["delivered", "delivered"]);
  }, longPatience);
  expect(textsTo("15005550006").toSorted()).toEqual(["kept by Kannel", "kept by us"]);
});

it("2,000 messages of a campaign arrive once each, and so do their receipts", async () => {
  smsc.sendsReceipts = true;
  const numbers = Array.from({ length: 2_000 }, (_, index) => String(15_006_000_000 + index));
  for (const start of [0, 1_000]) {
    const contacts = numbers
      .slice(start, start + 1_000)
      .map((phoneNumber) => ({ phoneNumber, tags: ["all"] }));
    const { totals } = await client.importContacts({ body: { contacts } });
    expect(totals.created).toBe(1_000);
  }
  const { id } = await client.createCampaign({
    body: {
      name: "Two thousand",
      message: "To {{phoneNumber}}",
      audience: { tags: ["all"] },
      senderId: "ADASHOP",
    },
  });
  await client.launchCampaign({ params: { id } });
  await vi.waitFor(async () => {
    const { status, progress } = await client.getCampaign({ params: { id } });
    expect({ status, ...progress }).toMatchObject({
      status: "completed",
      accepted: 2_000,
      sent: 2_000,
      failed: 0,
      delivered: 2_000,
      undelivered: 0,
      receiptRate: 1,
    });
  }, longPatience);
  const arrived = smsc.received.filter(({ to }) => to.startsWith("15006"));
  expect(arrived.map(({ to }) => to).toSorted()).toEqual(numbers);
  expect(arrived.map(({ text }) => text).toSorted()).toEqual(numbers.map((each) => `To ${each}`));
});
