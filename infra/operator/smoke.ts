import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";

import { noteVerifiedEmail } from "../../shared/accounts/verification.ts";
import { createClient, type Client } from "../../shared/client.ts";
import type { CreatedWebhook } from "../../shared/contract/webhooks.ts";
import { decideKyc } from "../../shared/kyc/review.ts";
import { auditWallet } from "../../shared/reconciliation/audit.ts";
import { decideSenderId } from "../../shared/sender-ids/review.ts";
import { adjustWallet } from "../../shared/wallet/adjust.ts";
import { microsOf, moneyText } from "../../shared/wallet/money.ts";
import { readWallet } from "../../shared/wallet/record.ts";
import { serviceSignature } from "../../shared/webhooks/signature.ts";
import { startReceiver } from "../demo/webhook-receiver.ts";
import { stageNamed, type Stage } from "../stages/stage.ts";
import { connect } from "./context.ts";
import { errorText } from "./error-text.ts";
import { jsonOf } from "./output.ts";
import { RecordOfCommand } from "./record-of-command.ts";

// `npm run smoke -- --stage NAME`: does on a deployed stage what the gateway is for, as a customer who is made up for it
// and as its operator, and cleans up. Its README says what remains.

const usage =
  "npm run smoke -- --stage NAME [--to NUMBER --sender-id ID] [--json], where a real carrier sends to NUMBER";

/** More than a message costs anywhere. */
const creditMicros = 1_000_000;
/** The sandbox accepts every message to it. */
const sandboxNumber = "15005550000";
const sandboxSenderId = "SMOKE";
/** A function that starts anew, and a carrier that is slow, are long done. */
const waitTimeoutMs = 60_000;
const pollIntervalMs = 250;

interface Customer {
  readonly client: Client;
  readonly organizationId: string;
  readonly email: string;
}

/** What is undone at the end, last first, whatever has happened. */
const cleaning: { readonly what: string; readonly undo: () => Promise<unknown> }[] = [];

let isJson = false;

try {
  const { stage, to, senderId, ...options } = readOptions();
  ({ isJson } = options);
  const { apiUrl: baseUrl } = await connect(stage);
  say("stage", `${stage.name} at ${baseUrl}`);
  // All that it does as the operator: what it gives and approves, and takes back.
  const record = new RecordOfCommand(stage, "smoke", {});
  try {
    await tryStage(stage, baseUrl, record, { to, senderId });
  } catch (error) {
    await cleanUp();
    // What it did before is done, whatever it failed with.
    await record.failed(undefined);
    throw error;
  }
  await cleanUp();
  await (process.exitCode === undefined ? record.end() : record.failed(undefined));
  if (process.exitCode === undefined) say("passed", `stage ${stage.name} does what it is for`);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`The smoke test failed: ${errorText(error)}\n`);
}

interface Options {
  readonly to: string | undefined;
  readonly senderId: string | undefined;
}

function readOptions(): Options & { readonly stage: Stage; readonly isJson: boolean } {
  const text = { type: "string" } as const;
  const json = { type: "boolean", default: false } as const;
  const { values } = parseArgs({ options: { stage: text, to: text, "sender-id": text, json } });
  if (values.stage === undefined || (values.to === undefined) !== (values["sender-id"] === undefined)) {
    throw new Error(usage);
  }
  return {
    stage: stageNamed(values.stage),
    to: values.to,
    senderId: values["sender-id"],
    isJson: values.json,
  };
}

async function tryStage(
  stage: Stage,
  baseUrl: string,
  record: RecordOfCommand,
  options: Options,
): Promise<void> {
  const { version } = await createClient({ baseUrl }).getHealth();
  say("health", `answers, version ${version}`);
  const customer = await register(baseUrl);
  await record.begin({ organizationId: customer.organizationId });
  await credit(customer);
  const { id: keyId, secret } = await customer.client.createApiKey({ body: { name: "smoke test" } });
  cleaning.push({
    what: "API key disabled",
    undo: async () => customer.client.disableApiKey({ params: { id: keyId } }),
  });
  say("API key", keyId);
  const withKey = { ...customer, client: createClient({ baseUrl, credential: secret }) };
  const to = options.to ?? (stage.carrier === "sandbox" ? sandboxNumber : undefined);
  if (to === undefined) {
    say("hand-off", `not tried, for the carrier of stage ${stage.name} is real: give a number with --to`);
  } else {
    const expectCall = await addWebhook(stage, baseUrl, withKey.client);
    const senderId = options.senderId ?? sandboxSenderId;
    await satisfyPolicies(stage, customer, senderId);
    const message = await send(withKey.client, to, senderId);
    await expectCall(message.id);
    await checkLedger(withKey.client, message.priceMicros);
  }
  await audit(customer.organizationId);
}

/**
 * An address that is new each time. Amazon SES delivers to it without a mailbox: its simulator takes what is sent to
 * `success`, with any label, and none of it counts as a bounce.
 */
function newAddress(): string {
  return `success+smoke-${randomUUID()}@simulator.amazonses.com`;
}

async function register(baseUrl: string): Promise<Customer> {
  const email = newAddress();
  const session = await createClient({ baseUrl }).register({
    body: { email, password: randomUUID(), organizationName: "Smoke test" },
  });
  const organizationId = session.organization.id;
  say("registered", `${organizationId}, ${email}`);
  cleaning.push({
    what: `all but the user, the empty wallet with its ledger and the messages of ${organizationId}`,
    undo: async () => undefined,
  });
  return { client: createClient({ baseUrl, credential: session.token }), organizationId, email };
}

/** Adds money as the operator does, which works where top-ups are off. */
async function credit({ client, organizationId }: Customer): Promise<void> {
  cleaning.push({ what: "rest of the credit taken back", undo: async () => debitRest(organizationId) });
  const reason = "Smoke test";
  const reference = randomUUID();
  await adjustWallet({ organizationId, type: "credit", amountMicros: creditMicros, reason, reference });
  const { balance } = await client.getWallet();
  mustBe("the balance after the credit", moneyText(microsOf(balance)), moneyText(creditMicros));
  say("credited", moneyText(creditMicros));
}

/** Does as operator what a stage wants before it sends anything, and takes back what others could use. */
async function satisfyPolicies(
  { policies }: Stage,
  { client, organizationId }: Customer,
  senderId: string,
): Promise<void> {
  if (policies.verifiedEmail === "before-sending") {
    await noteVerifiedEmail(organizationId);
    say("email", "verified, as the operator does it");
  }
  const withdrawal = { approved: false, reason: "The smoke test is over" } as const;
  if (policies.kyc === "before-sending") {
    const { id } = await client.submitKyc({ body: { businessName: "Smoke test" } });
    await decideKyc(organizationId, id, { approved: true });
    cleaning.push({
      what: "approval of KYC withdrawn",
      undo: async () => decideKyc(organizationId, id, withdrawal),
    });
    say("KYC", "submitted and approved");
  }
  if (policies.senderIds === "approved") {
    const { id } = await client.createSenderId({ body: { senderId } });
    // A customer may have it, and keeps it.
    await decideSenderId(organizationId, id, { approved: true }, { isShared: true });
    cleaning.push({
      what: "approval of the sender ID withdrawn",
      undo: async () => decideSenderId(organizationId, id, withdrawal),
    });
    say("sender ID", `${senderId} approved for the smoke test too`);
  }
}

async function debitRest(organizationId: string): Promise<void> {
  const { balanceMicros } = await readWallet(organizationId);
  if (balanceMicros === 0) return;
  const reason = "Smoke test: what was left";
  const amountMicros = -balanceMicros;
  const reference = randomUUID();
  await adjustWallet({ organizationId, type: "correction", amountMicros, reason, reference });
}

/**
 * Registers an endpoint on this machine, where the stage can call it.
 * @returns waits for the call about a message
 */
async function addWebhook(
  stage: Stage,
  baseUrl: string,
  client: Client,
): Promise<(messageId: string) => Promise<void>> {
  const isOnThisMachine = /^(127\.0\.0\.1|(.+\.)?localhost)$/.test(new URL(baseUrl).hostname);
  if (stage.webhookTargets !== "any" || !isOnThisMachine) {
    say("webhook", "not tried, for the stage cannot call this machine");
    return async () => undefined;
  }
  const receiver = await startReceiver();
  cleaning.push({ what: "receiver stopped", undo: async () => receiver.close() });
  const webhook: CreatedWebhook = await client.createWebhook({ body: { url: receiver.url } });
  cleaning.push({
    what: "webhook deleted",
    undo: async () => client.deleteWebhook({ params: { id: webhook.id } }),
  });
  return async (messageId) => {
    const { body, event, signature } = await receiver.next();
    mustBe("the webhook's event", event, "message.sent");
    mustBe("the webhook's signature", signature, serviceSignature(webhook.secret, body));
    if (!body.includes(messageId)) throw new Error(`the webhook's call is not about ${messageId}: ${body}`);
    say("webhook", "called with a right signature");
  };
}

/** Sends a message and waits until the carrier has it. */
async function send(
  client: Client,
  to: string,
  senderId: string,
): Promise<{ id: string; priceMicros: number }> {
  const message = "Smoke test of the SMS gateway";
  const { id, pricing } = await client.sendSms({ body: { to, message, senderId } });
  const deadline = Date.now() + waitTimeoutMs;
  for (;;) {
    const { status, errorCode } = await client.getSms({ params: { id } });
    if (status === "sent") break;
    if (status !== "queued") throw new Error(`the message ${id} is ${status}: ${errorCode ?? "no reason"}`);
    if (Date.now() > deadline) throw new Error(`the message ${id} is still queued after a minute`);
    await delay(pollIntervalMs);
  }
  const priceMicros = microsOf(pricing.total);
  say("sent", `${id} for ${moneyText(priceMicros)}`);
  return { id, priceMicros };
}

async function checkLedger(client: Client, priceMicros: number): Promise<void> {
  const { balance } = await client.getWallet();
  const { rows } = await client.listTransactions();
  const amounts = rows.map(({ amount }) => moneyText(microsOf(amount))).join(", ");
  mustBe("the balance", moneyText(microsOf(balance)), moneyText(creditMicros - priceMicros));
  mustBe("the ledger, newest first,", amounts, `${moneyText(-priceMicros)}, ${moneyText(creditMicros)}`);
  say("ledger", `${amounts}; the balance is ${moneyText(microsOf(balance))}`);
}

async function audit(organizationId: string): Promise<void> {
  const { findings, entries } = await auditWallet(organizationId);
  if (findings.length > 0) throw new Error(`the wallet is not in order: ${findings.join("; ")}`);
  say("audit", `in order, ${entries} entries`);
}

/** Undoes what was done, all that can be, and says what could not. */
async function cleanUp(): Promise<void> {
  for (const { what, undo } of cleaning.toReversed()) {
    try {
      await undo();
      say("cleaned up", what);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`Not cleaned up, ${what}: ${errorText(error)}\n`);
    }
  }
}

function mustBe(what: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`${what} is ${found} and not ${expected}`);
}

function say(what: string, text: string): void {
  const line = isJson ? jsonOf({ step: what, result: text }) : `${what.padEnd(12)}  ${text}`;
  process.stdout.write(`${line}\n`);
}
