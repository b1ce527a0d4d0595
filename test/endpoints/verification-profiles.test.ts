import { beforeAll, expect, it } from "vitest";

import { AuditEntry } from "../../shared/api/contract/audit-log.ts";
import { VerificationProfile } from "../../shared/api/contract/verification-profiles.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { findProfile } from "../../shared/verifications/profiles.ts";
import {
  Customer,
  dataOf,
  errorOf,
  invalidFields,
  pageOf,
  statusesOf,
  type ApiResponse,
} from "../support/api.ts";

const place = "/v1/verification-profiles";
const shop = { brand: "Ada's shop", texts: { en: "{brand}: {code}" }, countries: ["GB"], guard: "block" };
const notFound = { status: 404, code: "NOT_FOUND" };

let customer: Customer;
let stranger: Customer;
beforeAll(async () => {
  [customer, stranger] = await Promise.all([Customer.register(), Customer.register()]);
});

async function save(name: string, json: object, by = customer): Promise<ApiResponse> {
  return by.call(`${place}/${name}`, { method: "PUT", json });
}

async function remove(name: string, by = customer): Promise<ApiResponse> {
  return by.call(`${place}/${name}`, { method: "DELETE" });
}

async function read(name: string, by = customer): Promise<ApiResponse> {
  return by.call(`${place}/${name}`);
}

it("an organization has the profile default, until it saves another one in its place", async () => {
  // Without a name, an organization has the email of its owner, which is not for everyone who gets a code.
  const brand = "SMS gateway";
  const fields = { brand, codeLength: 6, validitySeconds: 600, guard: "monitor", allow: [] };
  const first = { name: "default", ...fields, version: 0 };
  expect(dataOf(await read("default"), VerificationProfile)).toEqual(first);
  expect(await findProfile(customer.organizationId)).toEqual(first);
  const saved = dataOf(await save("default", { ...shop, validitySeconds: 120 }), VerificationProfile);
  expect(saved).toEqual({ ...first, ...shop, validitySeconds: 120, version: 1, updatedAt: saved.updatedAt });
  expect(await findProfile(customer.organizationId)).toEqual(saved);
  expect((await remove("default")).status).toBe(200);
  expect(errorOf(await remove("default"))).toEqual(notFound);
  expect(dataOf(await read("default"), VerificationProfile)).toEqual(first);
});

it("a profile is listed by its name, replaced as a whole, and deleted", async () => {
  expect(statusesOf([await save("shop", { ...shop, codeLength: 8 }), await save("app", shop)])).toEqual([
    200, 200,
  ]);
  const { rows, meta } = pageOf(await customer.call(`${place}?limit=2`), VerificationProfile);
  expect(rows.map(({ name }) => name)).toEqual(["default", "app"]);
  expect(meta.total).toBe(3);
  expect(dataOf(await save("shop", { brand: "Ada" }), VerificationProfile)).toMatchObject({
    brand: "Ada",
    codeLength: 6,
  });
  expect(dataOf(await read("shop"), VerificationProfile).texts).toBeUndefined();
  for (const name of ["shop", "app"])
    expect((await remove(name)).body).toEqual({ data: { name, deleted: true } });
  expect(errorOf(await read("shop"))).toEqual(notFound);
  await expect(findProfile(customer.organizationId, "shop")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("a profile must be complete, have known fields only, and fit into a message of Android", async () => {
  expect(invalidFields(await save("shop", {}))).toEqual(["brand"]);
  expect(invalidFields(await save("shop", { ...shop, gaurd: "strict" }))).toEqual(["gaurd"]);
  expect(invalidFields(await save("shop", { ...shop, texts: { en: "Hello" } }))).toEqual(["texts.en"]);
  const long = { ...shop, texts: { de: `{code}${"x".repeat(140)}` } };
  expect((await save("shop", long)).status).toBe(200);
  expect(invalidFields(await save("shop", { ...long, appHash: "FA+9qCX9VSu" }))).toEqual(["texts.de"]);
  const brand = "Ш".repeat(30);
  const domain = `${"a".repeat(60)}.example.com`;
  expect(invalidFields(await save("shop", { brand, domain, appHash: "FA+9qCX9VSu" }))).toEqual(["domain"]);
  expect(errorOf(await save("Shop", shop))).toEqual(notFound);
});

it("a profile names only a sender that the organization may use", async () => {
  expect((await save("shop", { ...shop, senderId: "ADASHOP" })).status).toBe(200);
  const number = "4477009003";
  await assignNumber({ number, organizationId: stranger.organizationId });
  const rejected = { status: 403, code: "SENDER_ID_NOT_APPROVED" };
  expect(errorOf(await save("shop", { ...shop, senderId: number }))).toEqual(rejected);
});

it("a profile belongs to its organization, and only credentials for webhooks change it", async () => {
  await save("shop", shop);
  expect(errorOf(await read("shop", stranger))).toEqual(notFound);
  expect(errorOf(await remove("shop", stranger))).toEqual(notFound);
  const sender = await customer.withApiKey({ scopes: ["send", "read", "campaigns"] });
  const forbidden = { status: 403, code: "INSUFFICIENT_SCOPE" };
  expect(errorOf(await save("shop", shop, sender))).toEqual(forbidden);
  expect(errorOf(await remove("shop", sender))).toEqual(forbidden);
  expect((await read("shop", sender)).status).toBe(200);
});

it("each change is in the audit log, without numbers", async () => {
  const own = await Customer.register();
  await save("shop", { ...shop, allow: ["447700900123"] }, own);
  await save("shop", { ...shop, guard: "strict" }, own);
  const [entry] = pageOf(await own.call("/v1/audit-log"), AuditEntry).rows;
  expect(entry).toMatchObject({
    action: "PUT /v1/verification-profiles/{name}",
    subject: { name: "shop" },
    before: { guard: "block", countries: ["GB"] },
    after: { guard: "strict" },
  });
  expect((await own.call("/v1/audit-log")).text).not.toContain("447700900123");
});

it("an organization has at most 20 profiles, however many are saved at the same time", async () => {
  const own = await Customer.register();
  const names = Array.from({ length: 22 }, (_, index) => `p${index}`);
  const saved = await Promise.all(names.map(async (name) => save(name, shop, own)));
  // A transaction that meets too many others changes nothing.
  const again = await Promise.all(
    names.filter((_, index) => saved[index]?.status === 503).map(async (name) => save(name, shop, own)),
  );
  const statuses = statusesOf([...saved, ...again].filter(({ status }) => status !== 503));
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 409, 409]);
  expect((await save("p0", shop, own)).status).toBe((await read("p0", own)).status === 200 ? 200 : 409);
  const { meta } = pageOf(await own.call(place), VerificationProfile);
  expect(meta.total).toBe(21);
});
