import { beforeEach, expect, it } from "vitest";

import { AuditEntry } from "../../shared/api/contract/audit-log.ts";
import { call, Customer, errorOf, pageOf, password } from "../support/api.ts";
import { dropAnswer, type Faults, isBy, loseRequest } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

const { gateway, faults } = await gatewayOfFile();
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ baseUrl: gateway.url });
});

/** A write into the audit log: an entry, or its outcome. */
function toAuditLog(what: "auditEntry" | "auditOutcome"): Parameters<Faults["next"]>[0] {
  return ({ operation, body }) => operation === "dynamodb:PutItem" && body.includes(`"${what}"`);
}

async function outcomes(): Promise<string[][]> {
  const { rows } = pageOf(await customer.call("/v1/audit-log"), AuditEntry);
  return rows.map(({ action, outcome, errorCode = "" }) => [action, outcome, errorCode]);
}

it("an action that the audit log cannot record first is not done", async () => {
  faults.next(toAuditLog("auditEntry"), loseRequest, Number.POSITIVE_INFINITY);
  expect(errorOf(await customer.call("/v1/auth/api-keys", { method: "POST" })).code).toBe("UNAVAILABLE");
  const json = { email: customer.email, password };
  const login = await call("/v1/auth/login", { json, baseUrl: gateway.url });
  expect(errorOf(login).code).toBe("UNAVAILABLE");
  expect(login.text).not.toContain("eyJ");
  const idempotent = { method: "POST", headers: { "Idempotency-Key": "a" } };
  expect(errorOf(await customer.call("/v1/wallet/top-up", idempotent)).code).toBe("UNAVAILABLE");
  faults.clear();
  expect((await customer.client.listApiKeys()).rows).toEqual([]);
  expect(await outcomes()).toEqual([["POST /v1/auth/register", "done", ""]]);
  // The failure is not kept: the repeated request succeeds.
  expect((await customer.call("/v1/wallet/top-up", idempotent)).status).toBe(200);
  expect(await customer.balance()).toBe(10);
});

it("an entry whose response was lost is recorded once", async () => {
  faults.next(toAuditLog("auditEntry"), dropAnswer, 2);
  await customer.createApiKey();
  expect(await outcomes()).toEqual([
    ["POST /v1/auth/api-keys", "done", ""],
    ["POST /v1/auth/register", "done", ""],
  ]);
});

it("an action succeeds although the audit log cannot record its outcome", async () => {
  faults.next(toAuditLog("auditOutcome"), loseRequest, Number.POSITIVE_INFINITY);
  const { id } = await customer.createApiKey();
  faults.clear();
  expect((await customer.client.listApiKeys()).rows.map((key) => key.id)).toEqual([id]);
  expect((await outcomes())[0]).toEqual(["POST /v1/auth/api-keys", "unknown", ""]);
});

it("a failed action is in the log with an unknown outcome", async () => {
  faults.next(isBy("ApiCreateApiKey", "dynamodb:TransactWriteItems"), loseRequest, Number.POSITIVE_INFINITY);
  expect(errorOf(await customer.call("/v1/auth/api-keys", { method: "POST" })).code).toBe("INTERNAL");
  expect((await outcomes())[0]).toEqual(["POST /v1/auth/api-keys", "unknown", "INTERNAL"]);
});
