import * as z from "zod/mini";

import { operationsOf, type PlacedOperation } from "../../../shared/api/openapi/document.ts";
import { openApiDocument } from "../../../shared/api/openapi/openapi.ts";
import { routes } from "../../../shared/api/routes.ts";
import type { Route } from "../../../shared/api/routes/route.ts";
import { totpCode, totpStepAt } from "../../../shared/platform/auth/totp.ts";
import type { LocalGateway } from "../gateway.ts";
import { waitFor, type WebhookCall } from "../webhook-receiver.ts";
import { exampleCodes, exampleWebhookUrl, idPattern, otherIdPattern } from "./steady.ts";

/** The purpose in the links of emails, by the operation that accepts their tokens. */
const purposes: Readonly<Record<string, string>> = {
  verifyEmail: "verify",
  resetPassword: "reset",
  acceptInvitation: "invitation",
};

/** The placeholder for the token of such a link in the example of a request. */
const exampleTokenPattern = /\busr_[0-9A-HJKMNP-TV-Z]{26}\.[\w-]{43}/g;

/** The most rounds: an operation may need an id or money from another, which succeeds in an earlier round. */
const maxRounds = 4;

/** The most rows of a list that are recorded. */
const maxRows = 3;

const Envelope = z.object({ data: z.unknown() });

/** Leaves out the records of a list after the first, as a reviver of `JSON.parse`. */
function firstRows(_key: string, value: unknown): unknown {
  return Array.isArray(value) && typeof value[0] === "object" ? value.slice(0, maxRows) : value;
}

/** Sends the request of an operation; a test sends it with the operation's samples. */
export type SendOperation = (operation: string, url: string, init: RequestInit) => Promise<Response>;

export class Recorder {
  readonly examples: Record<string, unknown> = {};
  readonly #gateway: LocalGateway;
  readonly #webhookUrl: string;
  readonly #approvePending: () => Promise<void>;
  readonly #send: SendOperation;
  readonly #operations: ReadonlyMap<string, PlacedOperation>;
  /** The first id of each prefix in a response. */
  readonly #ids = new Map<string, string>();
  #token = "";
  #secondFactor: { readonly secret?: string; readonly recoveryCode?: string } = {};

  constructor(
    gateway: LocalGateway,
    webhookUrl: string,
    approve: () => Promise<void>,
    send: SendOperation = async (_operation, url, init) => fetch(url, init),
  ) {
    this.#send = send;
    this.#gateway = gateway;
    this.#webhookUrl = webhookUrl;
    this.#approvePending = approve;
    this.#operations = new Map(operationsOf(openApiDocument()).map((each) => [each.operationId, each]));
  }

  /**
   * Calls each of these operations until it succeeds. Operations that create a record precede those that need its
   * id. Between two rounds the operator approves all pending requests.
   * @throws Error when an operation never succeeds, and at the first fault of the gateway
   */
  async play(isPlayed: (route: Route) => boolean): Promise<void> {
    const needsId = ([, { params }]: [string, Route]): number => (params === undefined ? 0 : 1);
    let waiting = Object.entries<Route>(routes)
      .filter(([, route]) => route.raw === undefined && isPlayed(route))
      .toSorted((one, other) => needsId(one) - needsId(other))
      .map(([operation]) => operation);
    let answers: string[] = [];
    for (let round = 0; round < maxRounds && waiting.length > 0; round += 1) {
      const failed: string[] = [];
      answers = [];
      for (const operation of waiting) {
        const answer = await this.callOperation(operation);
        if (answer.ok) {
          this.examples[operation] = Envelope.parse(JSON.parse(answer.text, firstRows)).data;
          if (isUnderWay(answer.text)) await this.#waitForEnds();
          await this.#pay(answer.text);
          continue;
        }
        if (answer.isFault) throw new Error(`${operation}: ${answer.text}`);
        failed.push(operation);
        answers.push(`${operation}: ${answer.text}`);
      }
      waiting = failed;
      if (waiting.length > 0) await this.#approvePending();
    }
    if (waiting.length > 0) throw new Error(`these operations never succeed:\n${answers.join("\n")}`);
  }

  /** Waits for background work, so that times have the same order in each recording. */
  async #waitForEnds(): Promise<void> {
    await waitFor("the end of the operations in progress", async () => {
      return !isUnderWay(
        (await this.read("listSms")) + (await this.read("listCampaigns")) + (await this.read("getExport")),
      );
    });
  }

  /** Pays at the checkout of a response, or saves a card there, as a customer does in a browser. */
  async #pay(answer: string): Promise<void> {
    const checkoutUrl = /"checkoutUrl":"([^"]+)"/.exec(answer)?.[1];
    if (checkoutUrl === undefined) return;
    const card = { number: "4242424242424242", expiry: "12/34", cvc: "123", name: "Ada King", country: "GB" };
    await fetch(checkoutUrl, { method: "POST", body: new URLSearchParams(card), redirect: "manual" });
    await waitFor("the payment", async () => !(await this.read("listPayments")).includes("checkoutUrl"));
  }

  /** Creates a record again; from then on its id is filled in. */
  async renew(operation: string, changes: object = {}): Promise<void> {
    const { text } = await this.callOperation(operation, changes);
    // The response's own id is its first.
    for (const [id, prefix = ""] of [...text.matchAll(idPattern)].toReversed()) this.#ids.set(prefix, id);
  }

  /** Waits for the conversation of the inbound test message, so that there is one to read and to reply to. */
  async converse(): Promise<void> {
    const list = `${this.#gateway.url}/v1/conversations?test=true`;
    await waitFor("the conversation", async () => {
      const listed = await fetch(list, { headers: { Authorization: `Bearer ${this.#token}` } });
      const text = await listed.text();
      this.#remember(text);
      this.examples["listConversations"] = Envelope.parse(JSON.parse(text)).data;
      return text.includes("cnv_");
    });
  }

  /** Sends a message with a key whose messages are held, so that there is one to decide about. */
  async holdMessage(): Promise<void> {
    const { text } = await this.callOperation("createApiKey", { name: "agent", limits: { holdAbove: 0 } });
    const secret = /"secret":"([^"]+)"/.exec(text)?.[1] ?? "";
    // Only the limits of a key with limits can be changed.
    this.#ids.set("key", /"(key_\w+)"/.exec(text)?.[1] ?? "");
    const held = await fetch(`${this.#gateway.url}/v1/sms/send`, {
      method: "POST",
      headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to: "15005550000", message: "Your order is on its way", senderId: "ADASHOP" }),
    });
    this.#remember(await held.text());
  }

  /** Lets the balance fall below its threshold, and a message reach the daily cap. @returns the events of the webhook */
  async playWalletEvents(nextCall: () => Promise<WebhookCall>): Promise<WebhookCall[]> {
    const awaited = new Set(["balance.low", "spend.cap_reached"]);
    await this.callOperation("updateWebhook", { events: [...awaited] });
    const Answer = z.object({ data: z.object({ balance: z.number() }) });
    const { data: wallet } = Answer.parse(JSON.parse(await this.read("getWallet")));
    // The threshold has two decimals: after a few messages the balance is below it.
    await this.callOperation("updateWallet", { lowBalanceThreshold: Math.floor(wallet.balance * 100) / 100 });
    for (let sent = 0; sent < 2; sent += 1) await this.callOperation("sendSms");
    await this.callOperation("updateWallet", { dailySpendCap: 0.01 });
    await this.callOperation("sendSms");
    const calls: WebhookCall[] = [];
    while (calls.length < awaited.size) {
      const next = await nextCall();
      if (awaited.has(next.event)) calls.push(next);
    }
    await this.callOperation("updateWallet", { dailySpendCap: null });
    return calls;
  }

  async read(operation: string): Promise<string> {
    return (await this.callOperation(operation)).text;
  }

  /** Calls an operation with the body of its example, in which fields may be changed. */
  async callOperation(
    operation: string,
    changes: object = {},
  ): Promise<{ ok: boolean; isFault: boolean; text: string }> {
    const played = this.#operations.get(operation);
    if (played === undefined) throw new Error(`there is no operation ${operation}`);
    const { method, parameters = [], requestBody, security } = played;
    const example = requestBody?.content["application/json"]?.example;
    const body = requestBody === undefined ? undefined : JSON.stringify({ ...toObject(example), ...changes });
    const filledPath = played.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const { pattern = "", examples = [] } = parameters.find((each) => each.name === name)?.schema ?? {};
      const [sample = "none-yet"] = z.array(z.string()).parse(examples);
      return this.#ids.get(/^\^\(?(\w+?)[_|]/.exec(pattern)?.[1] ?? "") ?? sample;
    });
    const response = await this.#send(operation, this.#gateway.url + filledPath, {
      method,
      headers: {
        ...(security.length === 0 ? {} : { Authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: this.#fillIn(operation, body) }),
    });
    const text = await response.text();
    if (response.ok) this.#remember(text);
    return { ok: response.ok, isFault: response.status === 500, text };
  }

  /** Returns a body with existing ids, valid codes, reachable webhooks and the token of an email. */
  #fillIn(operation: string, body: string): string {
    const { secret, recoveryCode = exampleCodes.recovery } = this.#secondFactor;
    const code = secret === undefined ? exampleCodes.app : totpCode(secret, totpStepAt(new Date()));
    return (
      body
        .replaceAll(exampleWebhookUrl, this.#webhookUrl)
        .replaceAll(`"code":"${exampleCodes.app}"`, `"code":"${code}"`)
        .replaceAll(exampleCodes.recovery, recoveryCode)
        .replaceAll(idPattern, (id, prefix: string) => this.#ids.get(prefix) ?? id)
        // The invited user has a separate id, which is in the token.
        .replaceAll(exampleTokenPattern, (token) => this.#tokenFor(operation) ?? token)
    );
  }

  /** Returns the token in the newest link to an operation. */
  #tokenFor(operation: string): string | undefined {
    const purpose = purposes[operation];
    return this.#gateway.emails
      .map(({ text }) => /\/account#(?<purpose>\w+)=(?<token>[^\s~]+)/.exec(text)?.groups)
      .find((link) => link?.["purpose"] === purpose)?.["token"];
  }

  #remember(text: string): void {
    this.#token = /"token":"(eyJ[^"]+)"/.exec(text)?.[1] ?? this.#token;
    const secret = /"secret":"([A-Z2-7]{32})"/.exec(text)?.[1];
    if (secret !== undefined) this.#secondFactor = { secret };
    const recoveryCode = /"recoveryCodes":\["([^"]+)"/.exec(text)?.[1];
    if (recoveryCode !== undefined) this.#secondFactor = { recoveryCode };
    for (const [id = "", prefix = ""] of [...text.matchAll(idPattern), ...text.matchAll(otherIdPattern)]) {
      if (!this.#ids.has(prefix)) this.#ids.set(prefix, id);
    }
  }
}

/** Returns whether a response has a message, a campaign or an export that has not ended. */
function isUnderWay(answer: string): boolean {
  return /"status":"(queued|running|sending)"/.test(answer);
}

function toObject(example: unknown): Record<string, unknown> {
  return z.catch(z.record(z.string(), z.unknown()), {}).parse(example);
}
