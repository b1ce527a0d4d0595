import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { KycSubmission } from "../../shared/api/contract/kyc.ts";
import { Customer, dataOf, errorOf } from "../support/api.ts";
import { objectsOf, operator, type Ended } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";

let gateway: LocalGateway;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, stop } = await startOperatedGateway());
});
afterAll(async () => {
  await stop();
});

it("a KYC submission is listed, shown, rejected with a reason that the customer reads, and approved", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { email, organizationId } = customer;
  expect(await operator(["kyc", "show", email])).toMatchObject({
    code: 1,
    err: `${organizationId} has no KYC submission.\n`,
  });
  const submit = async (json: Record<string, unknown>) =>
    dataOf(await customer.call("/v1/kyc", { json: { businessName: "Ada's Shop", ...json } }), KycSubmission);
  const first = await submit({ country: "GB" });
  const list = await operator(["kyc", "list"]);
  expect(list.out).toMatch(
    new RegExp(`^\\S+Z {2}${organizationId} {2}${first.id} {2}GB +Ada's Shop\\n(?:.+\\n)*\\d pending$`, "m"),
  );

  const rejected = await operator(["kyc", "reject", email, first.id, "--reason", "No number"]);
  expect(rejected).toMatchObject({ code: 0, out: `${organizationId} is rejected\n` });
  expect((await customer.call("/v1/kyc")).body).toMatchObject({ data: { rejectionReason: "No number" } });
  expect((await operator(["kyc", "list"])).out).not.toContain(organizationId);

  const second = await submit({ registrationNumber: "7" });
  expect(await operator(["kyc", "approve", email, first.id])).toMatchObject({
    code: 1,
    err: "The submission has been replaced by another one.\n",
  });
  expect(await operator(["kyc", "approve", email, second.id])).toMatchObject({ code: 0 });
  const shown = await operator(["kyc", "show", organizationId]);
  expect(shown.out).toMatch(/^Status {8}approved\nBusiness {6}Ada's Shop\nRegistration {2}7$/m);
});

it("a sender ID is listed, approved so that messages carry it, and rejected again", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  await customer.call("/v1/sender-ids", { json: { senderId: "ADASHOP", useCase: "Orders" } });
  const list = await operator(["sender-ids", "list", "--json"]);
  const Listed = z.object({ id: z.string(), organizationId: z.string() });
  const request = objectsOf(list, Listed).find((each) => each.organizationId === organizationId);
  const id = request?.id ?? "";

  const approved = await operator(["sender-ids", "approve", email, id]);
  expect(approved).toMatchObject({ code: 0, out: `ADASHOP of ${organizationId} is approved\n` });
  expect((await customer.trySend({ senderId: undefined })).status).toBe(202);
  const { out } = await operator(["organizations", "show", email]);
  expect(out).toMatch(/^Sender IDs {4}ADASHOP approved \(default\)$/m);

  const reject = ["sender-ids", "reject", email, id, "--reason", "Another company"];
  expect(await operator(reject)).toMatchObject({ code: 0 });
  expect(errorOf(await customer.trySend({ senderId: undefined })).code).toBe("MISSING_SENDER_ID");
  expect(await operator(["sender-ids", "approve", email, "sid_1"])).toMatchObject({
    code: 1,
    err: `${organizationId} has not requested sid_1.\n`,
  });
});

it("a sender ID belongs to one customer unless it is shared", async () => {
  const register = async (): Promise<{ customer: Customer; id: string }> => {
    const customer = await Customer.register({ baseUrl: gateway.url });
    return { customer, id: (await customer.client.createSenderId({ body: { senderId: "OneBank" } })).id };
  };
  const [first, second] = [await register(), await register()];
  const approve = async ({ customer, id }: typeof first, ...more: readonly string[]): Promise<Ended> =>
    operator(["sender-ids", "approve", customer.email, id, ...more]);
  expect(await approve(first)).toMatchObject({ code: 0 });
  const taken = `The sender ID OneBank is approved for another organization: ${first.customer.organizationId}.`;
  expect(await approve(second)).toMatchObject({ code: 1, err: `${taken}\n` });
  expect(await approve(second, "--shared")).toMatchObject({ code: 0 });
});

it("an email is noted as verified, once", async () => {
  const { email, organizationId } = await Customer.register({ baseUrl: gateway.url });
  const show = async (): Promise<string> => (await operator(["organizations", "show", email])).out;
  expect(await show()).toMatch(/^Email {9}not verified$/m);
  const verify = ["organizations", "verify-email", email, "--json"];
  const noted = await operator(verify);
  expect(JSON.parse(noted.out)).toEqual({ organizationId, emailVerifiedAt: expect.any(String) });
  expect(await show()).toMatch(/^Email {9}verified$/m);
  expect((await operator(verify)).out).toBe(noted.out);
});
