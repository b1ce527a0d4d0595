import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { type LocalGateway } from "../../infra/local/gateway.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import type { Campaign } from "../../shared/api/contract/campaigns.ts";
import { isApprovedSenderId } from "../../shared/messages/sender-ids/names.ts";
import { decideSenderId } from "../../shared/messages/sender-ids/review.ts";
import { findKyc } from "../../shared/tenancy/kyc/record.ts";
import { decideKyc } from "../../shared/tenancy/kyc/review.ts";
import { Customer, errorOf, invalidFields, type ApiResponse } from "../support/api.ts";
import { startAwsAccount } from "../support/aws-account.ts";
import { waitForEmail } from "../support/emails.ts";
import type { Ended } from "../support/operator.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { allowToSend, strictPolicies } from "../support/policies.ts";

/*
 * A gateway with all requirements that a stage can have, which sends to the United States only.
 */

const { gateway } = await gatewayOfFile(strictPolicies("US"));
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ baseUrl: gateway.url, balance: 1 });
});

const campaign = { name: "Spring", message: "hello", audience: { all: true } };
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

/** All kinds of sends, each with a sender ID. */
const ways: Readonly<Record<string, (senderId: string, to?: string) => Promise<ApiResponse>>> = {
  "a message": async (senderId, to = "15005550000") => customer.trySend({ senderId, to }),
  "a scheduled message": async (senderId, to = "15005550000") =>
    customer.trySend({ senderId, to, scheduledAt: inAnHour() }),
  "a message of a template": async (senderId, to = "15005550000") => {
    const { id } = await customer.client.createTemplate({ body: { name: "greeting", body: "Hello" } });
    return customer.call(`/v1/templates/${id}/send`, { json: { to, senderId } });
  },
  "a scheduled campaign": async (senderId) =>
    customer.call("/v1/campaigns", { json: { ...campaign, senderId, scheduledAt: inAnHour() } }),
  "the launch of a draft": async (senderId) => {
    await customer.client.importContacts({ body: { contacts: [{ phoneNumber: "15005550000" }] } });
    const { id } = await customer.client.createCampaign({
      body: { ...campaign, audience: { all: true }, senderId },
    });
    const launched = await customer.call(`/v1/campaigns/${id}/launch`, { method: "POST" });
    const { status } = await customer.client.getCampaign({ params: { id } });
    if (launched.status !== 200) expect(status).toBe("draft");
    return launched;
  },
};
const messageWays = Object.entries(ways).filter(([name]) => !/campaign|draft/.test(name));

it.each(Object.entries(ways))(
  "%s requires a verified email, KYC and an approved sender ID",
  async (_name, send) => {
    const { organizationId, client } = customer;
    expect(errorOf(await send("MYBANK"))).toEqual({ status: 403, code: "EMAIL_NOT_VERIFIED" });
    await noteVerifiedEmail(organizationId);
    expect(errorOf(await send("MYBANK"))).toEqual({ status: 403, code: "KYC_REQUIRED" });
    const kyc = await client.submitKyc({ body: { businessName: "My Bank" } });
    expect(errorOf(await send("MYBANK"))).toEqual({ status: 403, code: "KYC_REQUIRED" });
    await decideKyc(organizationId, kyc.id, { approved: true });
    expect(errorOf(await send("MYBANK"))).toEqual({ status: 403, code: "SENDER_ID_NOT_APPROVED" });
    const request = await client.createSenderId({ body: { senderId: "MyBank" } });
    expect(errorOf(await send("MYBANK"))).toEqual({ status: 403, code: "SENDER_ID_NOT_APPROVED" });
    await decideSenderId(organizationId, request.id, { approved: true }, { isShared: true });
    expect(await customer.balance()).toBe(1);
    const taken = await send("MYBANK");
    expect([200, 201, 202]).toContain(taken.status);

    await decideSenderId(organizationId, request.id, { approved: false, reason: "complaints" });
    expect(errorOf(await send("MYBANK")).code).toBe("SENDER_ID_NOT_APPROVED");
    await decideKyc(organizationId, kyc.id, { approved: false, reason: "forged" });
    expect(errorOf(await send("MYBANK")).code).toBe("KYC_REQUIRED");
  },
);

it.each(Object.entries(ways))(
  "%s never has a number, or another organization's approved sender ID, as its sender ID",
  async (_name, send) => {
    const bank = await Customer.register({ baseUrl: gateway.url });
    await allowToSend(bank.organizationId, "MYBANK");
    await allowToSend(customer.organizationId, "ACME", "911", "12065550100");
    for (const senderId of ["MYBANK", "mybank", "911", "12065550100"]) {
      expect(errorOf(await send(senderId)), senderId).toEqual({
        status: 403,
        code: "SENDER_ID_NOT_APPROVED",
      });
    }
    expect([200, 201, 202]).toContain((await send("Acme")).status);
  },
);

it("a test key sends without any of this, to any country, and nothing is charged", async () => {
  const tester = await customer.withApiKey({ test: true });
  for (const to of ["15005550000", "881612345678", "447400123456", "18765550100"]) {
    const { id } = await tester.send({ to, senderId: "MYBANK" });
    await vi.waitFor(async () => expect((await tester.message(id)).status).toBe("sent"), patience);
    await tester.client.estimateSms({ body: { to, message: "hello", language: "English" } });
  }
  expect(await customer.balance()).toBe(1);
});

it("the default sender ID of an organization needs approval too", async () => {
  await allowToSend(customer.organizationId);
  expect(errorOf(await customer.trySend({ senderId: undefined })).code).toBe("MISSING_SENDER_ID");
  const { id } = await customer.client.createSenderId({ body: { senderId: "ADASHOP" } });
  await decideSenderId(customer.organizationId, id, { approved: true });
  expect((await customer.trySend({ senderId: undefined })).status).toBe(202);
});

it("a number cannot be requested as a sender ID", async () => {
  const response = await customer.call("/v1/sender-ids", { json: { senderId: "911" } });
  expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  expect(invalidFields(response)).toEqual(["senderId"]);
});

it.each([
  ["a satellite", "881612345678"],
  ["a shared service", "979123456789"],
  ["Jamaica", "18765550100"],
  ["a premium number", "19005550100"],
  ["a country that is not listed", "447400123456"],
])("nothing goes to %s", async (_name, to) => {
  await allowToSend(customer.organizationId, "ACME");
  const isRejected = { status: 403, code: "DESTINATION_NOT_ALLOWED" };
  for (const [name, send] of messageWays) expect(errorOf(await send("ACME", to)), name).toEqual(isRejected);
  const estimate = await customer.call("/v1/sms/estimate", { json: { to, message: "hello" } });
  expect(errorOf(estimate)).toEqual(isRejected);
  expect(await customer.balance()).toBe(1);
});

it("a message to a listed country is estimated", async () => {
  const estimate = await customer.call("/v1/sms/estimate", { json: { to: "12125550100", message: "hello" } });
  expect(estimate.status).toBe(200);
});

async function ended(id: string): Promise<Campaign> {
  return vi.waitFor(async () => {
    const found = await customer.client.getCampaign({ params: { id } });
    expect(found.status).toMatch(/completed|failed/);
    return found;
  }, patience);
}

it("a campaign skips contacts in countries that are not listed, and counts them", async () => {
  await allowToSend(customer.organizationId, "ACME");
  const contacts = ["12125550101", "447400123456", "881612345678"].map((phoneNumber) => ({ phoneNumber }));
  await customer.client.importContacts({ body: { contacts } });
  const { id, progress } = await customer.client.createCampaign({
    body: { ...campaign, audience: { all: true }, senderId: "ACME" },
  });
  expect(progress.skipped).toEqual({ optedOut: 0, unrenderable: 0, unknown: 0 });
  await customer.client.launchCampaign({ params: { id } });
  expect(await ended(id)).toMatchObject({
    status: "completed",
    progress: { accepted: 1, sent: 1, skipped: { destinationNotAllowed: 2 } },
  });
});

/** Runs the smoke test as an operator would, on a stage of its own that refers to a gateway on this machine. */
async function smoke(of: LocalGateway, ...options: readonly string[]): Promise<Ended> {
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-stages-"));
  const policies = {
    senderIds: "approved",
    kyc: "before-sending",
    verifiedEmail: "before-sending",
    countries: ["US"],
  };
  await writeFile(
    path.join(folder, "strict.json"),
    JSON.stringify({ carrier: "sandbox", keepData: false, email: { from: "sms@example.com" }, policies }),
  );
  const account = await startAwsAccount(of);
  // The AWS CLI reads the region from either variable.
  const { AWS_REGION: AWS_DEFAULT_REGION, ...others } = account.environment;
  const env = { PATH: process.env["PATH"], STAGES_FOLDER: folder, AWS_DEFAULT_REGION, ...others };
  const result = await new Promise<Ended>((resolve) => {
    const args = ["infra/operator/main.ts", "smoke-test", "--stage", "strict", ...options];
    execFile(process.execPath, args, { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
  await account.stop();
  await rm(folder, { recursive: true });
  return result;
}

it("passes the smoke test, which grants what the stage requires as an operator, and revokes it", async () => {
  const bank = await Customer.register({ baseUrl: gateway.url });
  await allowToSend(bank.organizationId, "SMOKE");
  const { code, out, err } = await smoke(gateway);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^sent {2,}msg_\w+/m);
  expect(out).toMatch(/^passed /m);
  const [, organizationId = "", email = ""] = /^registered +(org_\w+), (\S+)/m.exec(out) ?? [];
  // SES accepts emails to this address, and a bounce of it does not count.
  expect(email).toMatch(/^success\+smoke-[\w-]+@simulator\.amazonses\.com$/);
  expect((await waitForEmail(gateway, email)).to).toEqual([email]);
  expect(await isApprovedSenderId(organizationId, "SMOKE")).toBe(false);
  expect(await isApprovedSenderId(bank.organizationId, "SMOKE")).toBe(true);
  expect((await findKyc(organizationId))?.status).toBe("rejected");
});

it("prints each step of the smoke test as JSON on request, and why an API cannot be reached", async () => {
  const { out } = await smoke(gateway, "--json");
  const Step = z.object({ step: z.string(), result: z.string() });
  const steps = out
    .trimEnd()
    .split("\n")
    .map((line) => Step.parse(JSON.parse(line)).step);
  expect(steps).toEqual(expect.arrayContaining(["stage", "health", "sent", "wallet", "passed"]));

  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => void server.close(resolve));
  const nowhere = await smoke({ ...gateway, url: `http://127.0.0.1:${port}` });
  expect(nowhere).toMatchObject({ code: 1 });
  expect(nowhere.err).toContain(`fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`);
});
