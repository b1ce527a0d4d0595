import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import { startReceiver } from "@sms-gateway/local/webhook-receiver.ts";
import type { Stage } from "@sms-gateway/stack/stages/stage.ts";
import * as z from "zod/mini";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import { SenderId } from "../../shared/api/contract/senders.ts";
import type { CreatedWebhook } from "../../shared/api/contract/webhooks.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { decideSenderId } from "../../shared/messages/sender-ids/review.ts";
import { adjustWallet } from "../../shared/money/wallet/adjust.ts";
import { microsOf, moneyText } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { decideKyc } from "../../shared/tenancy/kyc/review.ts";
import { serviceSignature } from "../../shared/webhooks/signature.ts";
import { checkAddressees } from "./alarm-addressees.ts";
import { command, part, personal } from "./command.ts";
import type { Context } from "./context.ts";
import { errorText } from "./error-text.ts";

/** More than the price of any message. */
const creditMicros = 1_000_000;
/** The sandbox carrier accepts all messages to it. */
const sandboxNumber = "15005550000";
const sandboxSenderId = "SMOKE";
/** Longer than a cold start and a slow carrier need. */
const waitTimeoutMs = 60_000;
const pollIntervalMs = 250;

export const smokeTest = command({
  name: "smoke-test",
  summary: "Test a deployed stage as a new customer and its operator, then clean up",
  details:
    "Registers a customer, credits the wallet, sends a message, and verifies the ledger. Only the customer, the empty wallet, " +
    "its ledger and the message remain. A real carrier needs --to and --sender-id, and charges for the message.",
  examples: ["--stage dev", "--to 447700900123 --sender-id ACME --stage prod"],
  input: z
    .object({
      to: personal(
        "--to <number>",
        "recipient's number, in international form",
        z.optional(GivenPhoneNumber),
      ),
      senderId: part("--sender-id <sender>", "sender ID of the message", z.optional(SenderId)),
    })
    .check(
      z.refine(({ to, senderId }) => (to === undefined) === (senderId === undefined), {
        path: ["senderId"],
        error: "and --to must be used together",
      }),
    ),
  run: async (options, context) => {
    if (context.stage === undefined) throw new Error("Name the stage to test with --stage.");
    await new SmokeTest(context.stage, context).run(options);
  },
});

interface Options {
  readonly to?: string | undefined;
  readonly senderId?: string | undefined;
}

interface Customer {
  readonly client: Client;
  readonly organizationId: string;
}

class SmokeTest {
  readonly #stage: Stage;
  readonly #context: Context;
  /** Steps that clean up, in reverse order. They run after a failure too. */
  readonly #cleaning: { readonly what: string; readonly undo: () => Promise<unknown> }[] = [];

  constructor(stage: Stage, context: Context) {
    this.#stage = stage;
    this.#context = context;
  }

  async run(options: Options): Promise<void> {
    this.#say("stage", `${this.#stage.name} at ${this.#context.apiUrl}`);
    const problems: string[] = [];
    await this.#test(options).catch((error: unknown) => problems.push(errorText(error)));
    await checkAddressees(this.#stage, this.#context).then(
      (found) => this.#say("alarms", found),
      (error: unknown) => problems.push(errorText(error)),
    );
    problems.push(...(await this.#cleanUp()));
    // Without a cause, because the audit log must record the outcome as unknown: the test has changed something.
    if (problems.length > 0) throw new Error(`The smoke test failed: ${problems.join("; ")}`);
    this.#say("passed", `stage ${this.#stage.name} works`);
  }

  async #test(options: Options): Promise<void> {
    const stage = this.#stage;
    const baseUrl = this.#context.apiUrl;
    const { version, commit = "unknown" } = await createClient({ baseUrl }).getHealth();
    this.#say("health", `ok, version ${version}, commit ${commit}`);
    const customer = await this.#register();
    await this.#context.record({ organizationId: customer.organizationId });
    await this.#credit(customer);
    const { id: keyId, secret } = await customer.client.createApiKey({ body: { name: "smoke test" } });
    this.#later("API key disabled", async () => customer.client.disableApiKey({ params: { id: keyId } }));
    this.#say("API key", keyId);
    const client = createClient({ baseUrl, credential: secret });
    const to = options.to ?? (stage.carrier === "sandbox" ? sandboxNumber : undefined);
    if (to === undefined) {
      this.#say(
        "message",
        `skipped, because the carrier of stage ${stage.name} is real: add --to and --sender-id`,
      );
    } else {
      const expectCall = await this.#addWebhook(client);
      const senderId = options.senderId ?? sandboxSenderId;
      await this.#satisfyPolicies(customer, senderId);
      const message = await this.#send(client, to, senderId);
      await expectCall(message.id);
      await this.#checkLedger(client, message.priceMicros);
    }
    await this.#verifyWallet(customer.organizationId);
  }

  async #register(): Promise<Customer> {
    const baseUrl = this.#context.apiUrl;
    // The mailbox simulator of Amazon SES accepts emails to `success`, with any label.
    const email = `success+smoke-${randomUUID()}@simulator.amazonses.com`;
    const session = await createClient({ baseUrl }).register({
      body: { email, password: randomUUID(), organizationName: "Smoke test" },
    });
    const organizationId = session.organization.id;
    this.#say("registered", `${organizationId}, ${email}`);
    return { client: createClient({ baseUrl, credential: session.token }), organizationId };
  }

  /** Credits the wallet as the operator, because a stage can disable top-ups. */
  async #credit({ client, organizationId }: Customer): Promise<void> {
    this.#later("remaining credit removed", async () => debitRest(organizationId));
    const reason = "Smoke test";
    const reference = randomUUID();
    await adjustWallet({ organizationId, type: "credit", amountMicros: creditMicros, reason, reference });
    const { balance } = await client.getWallet();
    mustBe("the balance after the credit", moneyText(microsOf(balance)), moneyText(creditMicros));
    this.#say("credited", moneyText(creditMicros));
  }

  /** Approves as the operator what the stage's policies require, and withdraws it later. */
  async #satisfyPolicies({ client, organizationId }: Customer, senderId: string): Promise<void> {
    const { policies } = this.#stage;
    if (policies.verifiedEmail === "before-sending") {
      await noteVerifiedEmail(organizationId);
      this.#say("email", "verified by the operator");
    }
    const withdrawal = { approved: false, reason: "The smoke test is over" } as const;
    if (policies.kyc === "before-sending") {
      const { id } = await client.submitKyc({ body: { businessName: "Smoke test" } });
      await decideKyc(organizationId, id, { approved: true });
      this.#later("KYC approval withdrawn", async () => decideKyc(organizationId, id, withdrawal));
      this.#say("KYC", "submitted and approved");
    }
    if (policies.senderIds === "approved") {
      const { id } = await client.createSenderId({ body: { senderId } });
      // A customer who has the sender ID keeps it.
      await decideSenderId(organizationId, id, { approved: true }, { isShared: true });
      this.#later("sender ID approval withdrawn", async () => decideSenderId(organizationId, id, withdrawal));
      this.#say("sender ID", `${senderId} approved`);
    }
  }

  /**
   * Registers a webhook endpoint on this machine, if the stage can call it.
   * @returns a function that waits for the call about a message
   */
  async #addWebhook(client: Client): Promise<(messageId: string) => Promise<void>> {
    const isOnThisMachine = /^(127\.0\.0\.1|(.+\.)?localhost)$/.test(new URL(this.#context.apiUrl).hostname);
    if (this.#stage.webhookTargets !== "any" || !isOnThisMachine) {
      this.#say("webhook", "skipped, because the stage cannot call this machine");
      return async () => undefined;
    }
    const receiver = await startReceiver();
    this.#later("receiver stopped", async () => receiver.close());
    const webhook: CreatedWebhook = await client.createWebhook({ body: { url: receiver.url } });
    this.#later("webhook deleted", async () => client.deleteWebhook({ params: { id: webhook.id } }));
    return async (messageId) => {
      const { body, event, signature } = await receiver.next();
      mustBe("the webhook's event", event, "message.sent");
      mustBe("the webhook's signature", signature, serviceSignature(webhook.secret, body));
      if (!body.includes(messageId)) throw new Error(`the webhook's call is not about ${messageId}: ${body}`);
      this.#say("webhook", "called with a valid signature");
    };
  }

  /** Sends a message, and waits until a carrier accepts it. */
  async #send(client: Client, to: string, senderId: string): Promise<{ id: string; priceMicros: number }> {
    const message = "Smoke test of the SMS gateway";
    const { id, pricing } = await client.sendSms({ body: { to, message, senderId } });
    const deadline = Date.now() + waitTimeoutMs;
    for (;;) {
      const { status, errorCode } = await client.getSms({ params: { id } });
      if (status === "sent") break;
      if (status !== "queued") throw new Error(`the message ${id} is ${status}: ${errorCode ?? "no reason"}`);
      if (Date.now() > deadline)
        throw new Error(`the message ${id} is still queued after ${waitTimeoutMs / 1_000} seconds`);
      await delay(pollIntervalMs);
    }
    const priceMicros = microsOf(pricing.total);
    this.#say("sent", `${id} for ${moneyText(priceMicros)}`);
    return { id, priceMicros };
  }

  async #checkLedger(client: Client, priceMicros: number): Promise<void> {
    const { balance } = await client.getWallet();
    const { rows } = await client.listTransactions();
    const amounts = rows.map(({ amount }) => moneyText(microsOf(amount))).join(", ");
    mustBe("the balance", moneyText(microsOf(balance)), moneyText(creditMicros - priceMicros));
    mustBe("the ledger, newest first,", amounts, `${moneyText(-priceMicros)}, ${moneyText(creditMicros)}`);
    this.#say("ledger", `${amounts}; the balance is ${moneyText(microsOf(balance))}`);
  }

  async #verifyWallet(organizationId: string): Promise<void> {
    const { findings, entries } = await verifyWallet(organizationId);
    if (findings.length > 0) throw new Error(`the wallet is wrong: ${findings.join("; ")}`);
    this.#say("wallet", `verified, ${entries} entries`);
  }

  #later(what: string, undo: () => Promise<unknown>): void {
    this.#cleaning.push({ what, undo });
  }

  /** Runs all steps that clean up. @returns those that failed, with their errors */
  async #cleanUp(): Promise<string[]> {
    const failed: string[] = [];
    for (const { what, undo } of this.#cleaning.toReversed()) {
      try {
        await undo();
        this.#say("cleaned up", what);
      } catch (error) {
        failed.push(`not cleaned up (${what}): ${errorText(error)}`);
      }
    }
    return failed;
  }

  #say(step: string, result: string): void {
    this.#context.output.result({ step, result }, `${step.padEnd(12)}  ${result}`);
  }
}

async function debitRest(organizationId: string): Promise<void> {
  const { balanceMicros } = await readWallet(organizationId);
  if (balanceMicros === 0) return;
  const reason = "Smoke test: remaining credit";
  const amountMicros = -balanceMicros;
  const reference = randomUUID();
  await adjustWallet({ organizationId, type: "correction", amountMicros, reason, reference });
}

function mustBe(what: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`${what} is ${found} instead of ${expected}`);
}
