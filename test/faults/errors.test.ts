import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { errorResponse } from "../../infra/local/local-aws.ts";
import { GatewayStack } from "../../infra/stack/gateway-stack.ts";
import { forThisMachine, stageNamed } from "../../infra/stack/stages/stage.ts";
import { suspendOrganization } from "../../shared/accounts/organizations/suspension.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { errorCatalogue, type ErrorCode } from "../../shared/api/contract/errors.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { recordWord } from "../../shared/messages/opt-outs/opt-outs.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { limitDailySpend } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, putOf, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { call, Customer, dataOf, errorOf, password, type ApiResponse } from "../support/api.ts";
import { Faults, isBy, isDebit, loseRequest } from "../support/faults.ts";
import { allowToSend } from "../support/policies.ts";
import { priceRows } from "../support/prices.ts";
import { enableSecondFactor } from "../support/second-factor.ts";
import { testApp } from "../support/test-app.ts";
import { verificationErrors } from "../support/verification-errors.ts";

const faults = new Faults();
let assemblyFolder: string;
let gateway: LocalGateway;
let customer: Customer;

/** A gateway with the rules of prod, which accepts no top-ups. It fails when a test requests it. */
beforeAll(async () => {
  assemblyFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const stackName = "rules-of-prod";
  const app = testApp(assemblyFolder);
  const prod = forThisMachine(stageNamed("prod"));
  // Each test registers its own customer. No email is sent.
  new GatewayStack(app, stackName, {
    ...prod,
    email: undefined,
    limits: { ...prod.limits, registrationsPerAddressPerHour: undefined },
  });
  app.synth();
  gateway = await startLocalGateway({
    assemblyFolder,
    stackName,
    port: 0,
    log: () => undefined,
    interceptor: faults.interceptor,
    runsSchedules: false,
  });
  // The changes of a test go to the table of this gateway.
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  await publishRateCard(priceRows({ "1": 7_900 }), undefined);
  await addShortCarrier();
});
afterAll(async () => {
  await gateway.stop();
  await rm(assemblyFolder, { recursive: true });
});

beforeEach(async () => {
  customer = await Customer.register({ baseUrl: gateway.url });
  await allowToSend(customer.organizationId, "ACME");
});

async function send(fields: Record<string, unknown>, key?: string): Promise<ApiResponse> {
  return customer.call("/v1/sms/send", {
    json: { to: "15005550000", message: "hello", senderId: "ACME", ...fields },
    headers: key === undefined ? {} : { "Idempotency-Key": key },
  });
}

/** A number whose carrier sends at most two parts as one message. */
const shortNumber = "15005550008";

/** Before the functions read the carriers, which they keep for half a minute. */
async function addShortCarrier(): Promise<void> {
  const at = new Date().toISOString();
  const settings = CarrierSettings.parse({ kind: "twilio", maxParts: 2 });
  const times = { createdAt: at, updatedAt: at };
  await putItem(putOf(keys.carrier("short"), { entity: "carrier", name: "short", settings, ...times }));
  for (const [prefix, name] of [
    ["", "sandbox"],
    [shortNumber, "short"],
  ] as const) {
    const route = { entity: "route", prefix, carriers: [name], updatedAt: at } as const;
    await putItem(putOf(keys.route(prefix, "any"), route));
  }
}

/** Sends a message with a key that has limits. */
async function sendWithLimits(limits: Record<string, unknown>, message = "hello"): Promise<ApiResponse> {
  const created = await customer.call("/v1/auth/api-keys", { json: { limits } });
  const { secret } = dataOf(created, CreatedApiKey);
  return customer.call("/v1/sms/send", {
    json: { to: "15005550000", message, senderId: "ACME" },
    credential: secret,
  });
}

/** The hours of a key that have ended. */
function minuteAgo(): { from: string; to: string; timeZone: string } {
  const at = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString().slice(11, 16);
  return { from: at(2 * minuteMs), to: at(minuteMs), timeZone: "UTC" };
}

async function credit(): Promise<void> {
  const { organizationId } = customer;
  await postToWallet({ organizationId, type: "top_up", amountMicros: 1_000_000 });
}

/** Sends an event of a payment provider, whose keys this stage does not have. */
async function sendEvent(headers: Readonly<Record<string, string>>): Promise<ApiResponse> {
  return call("/v1/payments/events/stripe", { raw: "{}", headers, baseUrl: gateway.url });
}

async function logIn(guess: string): Promise<ApiResponse> {
  return call("/v1/auth/login", { json: { email: customer.email, password: guess }, baseUrl: gateway.url });
}

/** A request that causes each error. A code without an entry does not compile. */
const ways: Readonly<Record<ErrorCode, () => Promise<ApiResponse>>> = {
  VALIDATION_ERROR: async () => send({ to: "+1 500 555 0000" }),
  MISSING_SENDER_ID: async () => send({ senderId: undefined }),
  WALLET_MISSING: async () => {
    await deleteItem(keys.wallet(customer.organizationId));
    return customer.call("/v1/wallet");
  },
  INVALID_EMAIL_TOKEN: async () =>
    call("/v1/auth/verify-email", { json: { token: "none", password }, baseUrl: gateway.url }),
  UNAUTHORIZED: async () => customer.call("/v1/wallet", { credential: "nn_unknown" }),
  INVALID_CREDENTIALS: async () => logIn("wrong"),
  SECOND_FACTOR_REQUIRED: async () => {
    await enableSecondFactor(customer);
    return logIn(password);
  },
  INVALID_SECOND_FACTOR: async () => {
    await enableSecondFactor(customer);
    const { email } = customer;
    return call("/v1/auth/login", { json: { email, password, code: "no code" }, baseUrl: gateway.url });
  },
  INSUFFICIENT_BALANCE: async () => send({}),
  BALANCE_NEGATIVE: async () => {
    const { organizationId } = customer;
    await postToWallet({ organizationId, type: "chargeback", amountMicros: -1 });
    return send({});
  },
  DAILY_SPEND_CAP_REACHED: async () => {
    await credit();
    await limitDailySpend(customer.organizationId, 1);
    return send({});
  },
  KEY_BUDGET_REACHED: async () => {
    await credit();
    return sendWithLimits({ dailyBudget: 0.01 }, "long enough for three segments ".repeat(12));
  },
  RECIPIENT_NOT_ALLOWED_FOR_KEY: async () => sendWithLimits({ allowedRecipients: ["+44"] }),
  OUTSIDE_KEY_HOURS: async () => sendWithLimits({ hours: minuteAgo() }),
  PAYMENT_REQUIRED: async () => {
    const register = async (count: number): Promise<ApiResponse> =>
      customer.call("/v1/webhooks", { json: { url: `https://example.com/${count}` } });
    for (let count = 1; count <= 3; count += 1) expect((await register(count)).status).toBe(201);
    return register(4);
  },
  PAYMENT_METHOD_DISABLED: async () => customer.call("/v1/payments", { json: { amount: 10 } }),
  PAYMENT_PROVIDER_UNAVAILABLE: async () => sendEvent({ "Stripe-Signature": "t=1,v1=2" }),
  INVALID_SIGNATURE: async () => sendEvent({}),
  TOP_UP_DISABLED: async () => customer.call("/v1/wallet/top-up", { method: "POST" }),
  EMAIL_DISABLED: async () => customer.call("/v1/auth/verify-email/request", { method: "POST" }),
  ORGANIZATION_SUSPENDED: async () => {
    await suspendOrganization(customer.organizationId, "Fraud");
    return logIn(password);
  },
  SENDING_PAUSED: async () => {
    await customer.client.updateWallet({ body: { sendingPaused: true } });
    return send({});
  },
  INSUFFICIENT_SCOPE: async () => {
    const { secret } = await customer.client.createApiKey({ body: { scopes: ["read"] } });
    return customer.call("/v1/auth/api-keys", { credential: secret });
  },
  REAUTHENTICATION_REQUIRED: async () => {
    const { secret } = await customer.client.createApiKey({ body: { scopes: ["keys"] } });
    return customer.call("/v1/auth/api-keys", { credential: secret, json: { scopes: ["keys"] } });
  },
  SECOND_FACTOR_NOT_SET_UP: async () => {
    const required = { set: { secondFactorRequiredAt: new Date().toISOString() } };
    await updateItem(z.unknown(), updateOf(keys.organization(customer.organizationId), required));
    return customer.call("/v1/wallet");
  },
  ADDRESS_NOT_ALLOWED: async () => {
    const allowedAddresses = ["192.0.2.0/24"];
    const { secret } = await customer.client.createApiKey({ body: { allowedAddresses } });
    return customer.call("/v1/wallet", { credential: secret });
  },
  EMAIL_NOT_VERIFIED: async () => (await Customer.register({ baseUrl: gateway.url })).trySend(),
  KYC_REQUIRED: async () => {
    const newcomer = await Customer.register({ baseUrl: gateway.url });
    await noteVerifiedEmail(newcomer.organizationId);
    return newcomer.trySend();
  },
  SENDER_ID_NOT_APPROVED: async () => send({ senderId: "MYBANK" }),
  SENDER_NOT_ALLOWED_IN_COUNTRY: async () => send({ to: "12125550100" }),
  DESTINATION_NOT_PRICED: async () => send({ to: "4915112345678" }),
  DESTINATION_NOT_ALLOWED: async () => send({ to: "881612345678" }),
  MESSAGE_TOO_LONG: async () => {
    await credit();
    const rejected = await send({ to: shortNumber, message: "x".repeat(307) });
    expect((await customer.client.getWallet()).balance).toBe(1);
    return rejected;
  },
  RECIPIENT_OPTED_OUT: async () => {
    await customer.client.createContact({ body: { phoneNumber: "15005550000", optedOut: true } });
    return send({ messageType: "marketing" });
  },
  OPT_OUT_BY_REPLY: async () => {
    const { organizationId } = customer;
    await recordWord(organizationId, "15005550001", { word: "stop", saidAt: new Date().toISOString() });
    return customer.call("/v1/opt-outs/15005550001", { method: "DELETE" });
  },
  NOT_FOUND: async () => customer.call("/v1/sms/msg_01J00000000000000000000000"),
  METHOD_NOT_ALLOWED: async () => customer.call("/v1/wallet", { method: "DELETE" }),
  CONFLICT: async () => {
    await updateItem(
      z.unknown(),
      updateOf(keys.organization(customer.organizationId), { set: { apiKeyCount: 1_000_000 } }),
    );
    return customer.call("/v1/auth/api-keys", { method: "POST" });
  },
  NO_RECIPIENTS: async () => {
    const { id } = await customer.client.createCampaign({
      body: { name: "Spring", message: "Hi", audience: { all: true }, senderId: "ACME" },
    });
    return customer.call(`/v1/campaigns/${id}/launch`, { method: "POST" });
  },
  EMAIL_TAKEN: async () =>
    call("/v1/auth/register", { json: { email: customer.email, password }, baseUrl: gateway.url }),
  LAST_OWNER: async () => {
    const { user } = await customer.client.getMe();
    return customer.call(`/v1/members/${user.id}`, { method: "DELETE" });
  },
  IDEMPOTENCY_IN_PROGRESS: async () => {
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    faults.next(isDebit, async (request, next) => {
      begun.resolve();
      await goOn.promise;
      return next(request);
    });
    const first = send({}, "at-work");
    await begun.promise;
    const second = await send({}, "at-work");
    goOn.resolve();
    await first;
    return second;
  },
  IDEMPOTENCY_KEY_REUSED: async () => {
    await credit();
    await send({}, "used");
    return send({ message: "something else" }, "used");
  },
  PAYLOAD_TOO_LARGE: async () => send({ message: "x".repeat(70_000) }),
  UNSUPPORTED_MEDIA_TYPE: async () =>
    customer.call("/v1/sms/send", { raw: "to=15005550000", headers: { "Content-Type": "text/plain" } }),
  RATE_LIMITED: async () => {
    const guesses = await Promise.all(
      Array.from({ length: 10 }, async (_, guess) => logIn(`guess ${guess}`)),
    );
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401]));
    return logIn("one guess more");
  },
  SEND_RATE_EXCEEDED: async () => {
    await credit();
    const inAnHour = new Date(Date.now() + hourMs).toISOString();
    const used = { set: { secondSince: inAnHour, sendsLeft: 0 } };
    await updateItem(z.unknown(), updateOf(keys.wallet(customer.organizationId), used));
    return send({});
  },
  RECIPIENT_RATE_EXCEEDED: async () => {
    await credit();
    const { oneTimeCodesPerNumberPer10Minutes = 0 } = stageNamed("prod").limits;
    const code = { messageType: "otp", scheduledAt: new Date(Date.now() + hourMs).toISOString() };
    for (let count = 0; count < oneTimeCodesPerNumberPer10Minutes; count += 1) {
      expect((await send(code)).status).toBe(202);
    }
    return send(code);
  },
  TEST_KEY_NOT_ALLOWED: async () => {
    const { secret } = await customer.client.createApiKey({ body: { test: true } });
    return customer.call("/v1/wallet", { credential: secret });
  },
  ...verificationErrors(() => customer, credit),
  TEST_LIMIT_REACHED: async () => {
    const { secret: credential } = await customer.client.createApiKey({ body: { test: true } });
    const day = new Date().toISOString().slice(0, 10);
    const key = keys.usesOfDay("test-messages", `${customer.organizationId}#${day}`);
    await updateItem(z.unknown(), updateOf(key, { set: { uses: 1_000 } }));
    return customer.call("/v1/sms/send", {
      json: { to: "15005550000", message: "hello", senderId: "ACME" },
      credential,
    });
  },
  INTERNAL: async () => {
    faults.next(isBy("ApiGetMe"), async () => errorResponse("ValidationException", "internals of the table"));
    return customer.call("/v1/auth/me");
  },
  UNAVAILABLE: async () => {
    faults.next(isDebit, loseRequest);
    return send({});
  },
};

it.each(Object.entries(ways))("%s reaches the customer, with its status", async (code, provoke) => {
  const response = await provoke();
  const { status } = new Map(Object.entries(errorCatalogue)).get(code) ?? {};
  expect(errorOf(response)).toEqual({ status, code });
  expect(response.text).not.toContain("internals of the table");
  const waits = ["DAILY_SPEND_CAP_REACHED", "KEY_BUDGET_REACHED", "VERIFICATION_BLOCKED", "TOO_MANY_SENDS"];
  const isRateLimit = status === 429 && !code.startsWith("TOO_MANY_");
  expect(Number(response.headers.get("Retry-After")) > 0).toBe(isRateLimit || waits.includes(code));
  expect(response.headers.has("RateLimit")).toBe(isRateLimit);
});
