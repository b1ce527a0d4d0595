import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import * as z from "zod/mini";

import { openApiDocument, type DocumentedOperation } from "../../shared/openapi.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";
import { startLocalGateway, type LocalGateway } from "../local/gateway.ts";
import { synthesizeLocalStack } from "../local/synthesize.ts";
import { projectRoot } from "../project-root.ts";
import { startReceiver, waitFor, type WebhookCall } from "../webhook-receiver.ts";

/** Bodies of real responses and webhook calls, by operation and by event. */
export interface Examples {
  readonly operations: Readonly<Record<string, unknown>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
}

/** The purpose in the links of emails, by the operation that accepts their tokens. */
const purposes: Readonly<Record<string, string>> = {
  verifyEmail: "verify",
  resetPassword: "reset",
  acceptInvitation: "invitation",
};

/** The operations from registration to a session with a verified email. */
const verification: readonly Route[] = [
  routes.register,
  routes.requestEmailVerification,
  routes.verifyEmail,
  routes.login,
];

/** The placeholder for the token of such a link in the example of a request. */
const exampleTokenPattern = /\busr_[0-9A-HJKMNP-TV-Z]{26}\.[\w-]{43}/g;

/** The most rounds: an operation may need an id or money from another, which succeeds in an earlier round. */
const maxRounds = 4;

const idPattern = /\b([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}\b/g;

/** The codes of a second factor in the examples: one of an app, and a recovery code. */
const exampleCodes = { app: "123456", recovery: "K7QX-2MZD-A4TB-W3NE" };

/** The address of a webhook in the examples; no such host can exist (RFC 2606). */
const exampleWebhookUrl = "https://shop.example/sms-events";

/**
 * Calls every operation on a separate gateway, with the example request of its schema, and records its response. Values
 * that differ between runs are replaced, so that a second recording is the same.
 * @throws Error when an operation never succeeds
 */
export async function recordExamples(): Promise<Examples> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const errors: string[] = [];
  const gateway = await startLocalGateway({
    ...(await synthesizeLocalStack()),
    port: 0,
    dataFolder,
    log: (line) => {
      if (line.includes('"level":"error"')) errors.push(line);
    },
  });
  const receiver = await startReceiver();
  try {
    const approve = async (): Promise<void> => approvePending(dataFolder);
    const recorder = new Recorder(gateway, receiver.url, approve);
    // The verification of the email deletes what was created before.
    for (const first of verification) {
      if (first === routes.verifyEmail) {
        await waitFor("both links", async () => gateway.emails.length >= 2);
      }
      await recorder.play((route) => route === first);
    }
    const isDone = (route: Route): boolean => verification.includes(route);
    await recorder.play(
      (route) => !isDone(route) && !isEnding(route) && !endsSessions(route) && !changesMembers(route),
    );
    // Before this the id of a user is the owner's, who cannot leave.
    await recorder.renew("inviteMember", { email: "katherine@example.com" });
    await recorder.play(changesMembers);
    const sent = await receiver.next();
    await recorder.callOperation("sendSms", { to: "15005550002" });
    let failed = await receiver.next();
    while (failed.event !== "message.failed") failed = await receiver.next();
    await waitFor("the refund", async () => (await recorder.read("listTransactions")).includes('"refund"'));
    await recorder.play(({ method }) => method === "GET");
    const ofWallet = await recorder.playWalletEvents(async () => receiver.next());
    // A sent message or a finished campaign cannot be cancelled.
    await recorder.renew("sendSms", { scheduledAt: new Date(Date.now() + dayMs).toISOString() });
    await recorder.renew("createCampaign");
    await recorder.play(isEnding);
    for (const route of Object.values<Route>(routes).filter(endsSessions)) {
      await recorder.callOperation("login");
      await recorder.play((each) => each === route);
    }
    const webhooks = [sent, failed, ...ofWallet].map(({ event, body }): [string, unknown] => [
      event,
      JSON.parse(body),
    ]);
    return {
      operations: steady(recorder.examples, receiver.url),
      webhooks: { ...writtenEvents(), ...steady(Object.fromEntries(webhooks), receiver.url) },
    };
  } catch (error) {
    // Only the gateway's log has the cause of a 500.
    throw new Error([String(error), ...errors].join("\n"), { cause: error });
  } finally {
    receiver.close();
    await gateway.stop();
    await rm(dataFolder, { recursive: true });
  }
}

/** Returns the handwritten examples of events. Not all can be recorded: some need a carrier or a completed campaign. */
function writtenEvents(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(openApiDocument().webhooks).map(([name, { post }]) => [
      name,
      post.requestBody.content["application/json"].example,
    ]),
  );
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Returns whether an operation deletes what others need, so that it is called last. */
function isEnding(route: Route): boolean {
  return route.method === "DELETE" || /\/(cancel|revoke-all)$/.test(route.path);
}

/** Returns whether an operation ends the session of all other calls, or changes its password. */
function endsSessions({ method, path: template }: Route): boolean {
  return method === "POST" && /\/(logout|logout-everywhere|password|password-reset)$/.test(template);
}

/** Returns whether an operation changes a member's role in the organization. */
function changesMembers({ method, path: template }: Route): boolean {
  return method === "PATCH" && template.startsWith("/v1/members");
}

const Pending = z.object({ organizationId: z.string(), id: z.string() });

/** Lets the operator approve all pending requests. */
async function approvePending(dataFolder: string): Promise<void> {
  const operator = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, DATA_DIR: dataFolder };
    const file = path.join(projectRoot, "infra/operator/main.ts");
    return (await promisify(execFile)(process.execPath, [file, ...args], { env })).stdout;
  };
  for (const kind of ["kyc", "sender-ids"]) {
    const pending = (await operator(kind, "list", "--json")).split("\n").filter((line) => line !== "");
    for (const line of pending) {
      const { organizationId, id } = Pending.parse(JSON.parse(line));
      await operator(kind, "approve", organizationId, id);
    }
  }
}

interface PlayedOperation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

class Recorder {
  readonly examples: Record<string, unknown> = {};
  readonly #gateway: LocalGateway;
  readonly #webhookUrl: string;
  readonly #approvePending: () => Promise<void>;
  readonly #operations: ReadonlyMap<string, PlayedOperation>;
  /** The first id of each prefix in a response. */
  readonly #ids = new Map<string, string>();
  #token = "";
  #secondFactor: { readonly secret?: string; readonly recoveryCode?: string } = {};

  constructor(gateway: LocalGateway, webhookUrl: string, approve: () => Promise<void>) {
    this.#gateway = gateway;
    this.#webhookUrl = webhookUrl;
    this.#approvePending = approve;
    this.#operations = new Map(
      Object.entries(openApiDocument().paths).flatMap(([template, methods]) =>
        Object.entries(methods).map(([method, operation]) => [
          operation.operationId,
          { ...operation, method: method.toUpperCase(), path: template },
        ]),
      ),
    );
  }

  /**
   * Calls each of these operations until it succeeds. Operations that create a record precede those that need its
   * id. Between two rounds the operator approves all pending requests.
   */
  async play(isPlayed: (route: Route) => boolean): Promise<void> {
    const played = Object.entries<Route>(routes).filter(
      ([, route]) => route.raw === undefined && isPlayed(route),
    );
    const making = played.filter(([, { params }]) => params === undefined);
    const needing = played.filter(([, { params }]) => params !== undefined);
    let waiting = [...making, ...needing].map(([operation]) => operation);
    let answers: string[] = [];
    for (let round = 0; round < maxRounds && waiting.length > 0; round += 1) {
      const failed: string[] = [];
      answers = [];
      for (const operation of waiting) {
        const answer = await this.callOperation(operation);
        if (answer.ok) {
          this.examples[operation] = JSON.parse(answer.text);
          if (isUnderWay(answer.text)) await this.#waitForEnds();
          continue;
        }
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
    await waitFor("the end of what was begun", async () => {
      return !isUnderWay((await this.read("listSms")) + (await this.read("listCampaigns")));
    });
  }

  /** Creates a record again; from then on its id is filled in. */
  async renew(operation: string, changes: object = {}): Promise<void> {
    const { text } = await this.callOperation(operation, changes);
    // The response's own id is its first.
    for (const [id, prefix = ""] of [...text.matchAll(idPattern)].toReversed()) this.#ids.set(prefix, id);
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
  async callOperation(operation: string, changes: object = {}): Promise<{ ok: boolean; text: string }> {
    const played = this.#operations.get(operation);
    if (played === undefined) throw new Error(`there is no operation ${operation}`);
    const { method, parameters = [], requestBody, security } = played;
    const example = requestBody?.content["application/json"]?.example;
    const body = requestBody === undefined ? undefined : JSON.stringify({ ...toObject(example), ...changes });
    const filledPath = played.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const { pattern = "", examples = [] } = parameters.find((each) => each.name === name)?.schema ?? {};
      const [sample = "none-yet"] = z.array(z.string()).parse(examples);
      return this.#ids.get(/^\^(\w+?)_/.exec(pattern)?.[1] ?? "") ?? sample;
    });
    const response = await fetch(this.#gateway.url + filledPath, {
      method,
      headers: {
        ...(security.length === 0 ? {} : { Authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: this.#fillIn(operation, body) }),
    });
    const text = await response.text();
    if (response.ok) this.#remember(text);
    return { ok: response.ok, text };
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
      .map(({ text }) => /\/account#(?<purpose>\w+)=(?<token>\S+)/.exec(text)?.groups)
      .find((link) => link?.["purpose"] === purpose)?.["token"];
  }

  #remember(text: string): void {
    this.#token = /"token":"([^"]+)"/.exec(text)?.[1] ?? this.#token;
    const secret = /"secret":"([A-Z2-7]{32})"/.exec(text)?.[1];
    if (secret !== undefined) this.#secondFactor = { secret };
    const recoveryCode = /"recoveryCodes":\["([^"]+)"/.exec(text)?.[1];
    if (recoveryCode !== undefined) this.#secondFactor = { recoveryCode };
    for (const [id = "", prefix = ""] of text.matchAll(idPattern)) {
      if (!this.#ids.has(prefix)) this.#ids.set(prefix, id);
    }
  }
}

/** Returns whether a response has a message or a campaign that has not ended. */
function isUnderWay(answer: string): boolean {
  return /"status":"(queued|sending)"/.test(answer);
}

function toObject(example: unknown): Record<string, unknown> {
  return z.catch(z.record(z.string(), z.unknown()), {}).parse(example);
}

/**
 * Returns the same examples with constant ids, times and secrets. They do not depend on the time of the recording or on
 * other examples: a new operation changes only its own.
 */
function steady(examples: Readonly<Record<string, unknown>>, webhookUrl: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(examples).map(([name, example]) => [name, steadyExample(example, webhookUrl)]),
  );
}

function steadyExample(example: unknown, webhookUrl: string): unknown {
  const text = JSON.stringify(example)
    .replaceAll(webhookUrl, exampleWebhookUrl)
    .replaceAll(/"eyJ[^"]+"/g, '"eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIs…"')
    .replaceAll(/\bnn_[0-9A-Za-z]{38}\b/g, `nn_${"Example0".repeat(5).slice(0, 38)}`)
    .replaceAll(/\bnn_[0-9A-Za-z]{4}…/g, "nn_Exam…")
    .replaceAll(/\b[A-Z2-7]{32}\b/g, "EXAMPLE2".repeat(4))
    .replaceAll(/(?:\b[A-Z2-7]{4}-?){4}(?=")/g, exampleCodes.recovery)
    .replaceAll(/"commit":"[^"]+"/g, '"commit":"4f2a9c1e7b30"')
    .replaceAll(/"requestId":"[^"]+"/g, '"requestId":"JKJaXmPLvHcESHA="')
    .replaceAll(
      /\bwhsec_[^"]+/g,
      `whsec_${Buffer.from("an example of a signing secret..").toString("base64")}`,
    );
  return JSON.parse(steadyDays(steadyTimes(steadyIds(text))));
}

/** Numbers the ids of each kind, in the order of their creation. */
function steadyIds(text: string): string {
  const ids = [...new Set(text.match(idPattern))].toSorted();
  // An event has the ULID of its message.
  const ulids = [...new Set(ids.map((id) => id.slice("xxx_".length)))];
  return text.replaceAll(/(?<=\b[a-z]{3}_)[0-9A-HJKMNP-TV-Z]{26}\b/g, (ulid) => {
    return `01KE${String(ulids.indexOf(ulid) + 1).padStart(22, "0")}`;
  });
}

/** Keeps the order of times, a second apart; differences of more than a minute keep their minutes. */
function steadyTimes(text: string): string {
  const pattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
  const times = [...new Set(text.match(pattern))].toSorted();
  const steadyOf = new Map<string, string>();
  let before = Date.parse(times[0] ?? "");
  let at = Date.parse("2026-01-05T09:30:00.000Z");
  for (const time of times) {
    if (time.endsWith("T00:00:00.000Z")) {
      // The beginning of the next day, whose distance from the others varies.
      steadyOf.set(time, "2026-01-06T00:00:00.000Z");
      continue;
    }
    const minutes = Math.round((Date.parse(time) - before) / 60_000);
    before = Date.parse(time);
    at += minutes > 0 ? minutes * 60_000 : 1_000;
    steadyOf.set(time, new Date(at).toISOString());
  }
  return text.replaceAll(pattern, (time) => steadyOf.get(time) ?? time);
}

/** Keeps the distance of days from the newest one. */
function steadyDays(text: string): string {
  const pattern = /(?<=")\d{4}-\d\d-\d\d(?=")/g;
  const newest = text.match(pattern)?.toSorted().at(-1) ?? "";
  const shiftMs = Date.parse("2026-01-05") - Date.parse(newest);
  return text.replaceAll(pattern, (day) =>
    new Date(Date.parse(day) + shiftMs).toISOString().slice(0, "yyyy-mm-dd".length),
  );
}
