import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { Template } from "../../shared/api/contract/templates.ts";
import { maxTemplates } from "../../shared/audience/templates/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import {
  Customer,
  dataOf,
  errorOf,
  invalidFields,
  pageOf,
  statusesOf,
  type ApiResponse,
} from "../support/api.ts";

const invalid = { status: 400, code: "VALIDATION_ERROR" };
const notFound = { status: 404, code: "NOT_FOUND" };
const conflict = { status: 409, code: "CONFLICT" };

let customer: Customer;
let stranger: Customer;
beforeAll(async () => {
  [customer, stranger] = await Promise.all([
    Customer.register({ balance: 10 }),
    Customer.register({ balance: 1 }),
  ]);
});

async function create(body: string, by = customer): Promise<Template> {
  const response = await by.call("/v1/templates", { json: { name: "A template", body } });
  expect(response.status).toBe(201);
  return dataOf(response, Template);
}

async function change(id: string, json: Record<string, unknown>, by = customer): Promise<ApiResponse> {
  return by.call(`/v1/templates/${id}`, { method: "PATCH", json });
}

async function remove(id: string, by = customer): Promise<ApiResponse> {
  return by.call(`/v1/templates/${id}`, { method: "DELETE" });
}

async function read(id: string): Promise<Template> {
  return dataOf(await customer.call(`/v1/templates/${id}`), Template);
}

async function send(id: string, json: Record<string, unknown>, by = customer): Promise<ApiResponse> {
  return by.call(`/v1/templates/${id}/send`, { json: { to: "15005550000", senderId: "ACME", ...json } });
}

describe("a template", () => {
  it("lists its placeholders in the order of their first appearance", async () => {
    const body = "Hi {{ name }}, {{code}} is your code. Bye {{name}}!";
    const template = await create(body);
    expect(template).toEqual({
      id: template.id,
      name: "A template",
      body,
      placeholders: ["name", "code"],
      version: 1,
      createdAt: template.createdAt,
      updatedAt: template.createdAt,
    });
    expect(await read(template.id)).toEqual(template);
  });

  it("is listed newest first, by page and by cursor", async () => {
    const lister = await Customer.register();
    const newestFirst: string[] = [];
    for (const body of ["one", "two", "three"]) newestFirst.unshift((await create(body, lister)).id);
    const list = async (query: string) => {
      const { rows, meta } = pageOf(await lister.call(`/v1/templates?${query}`), Template);
      return { ids: rows.map(({ id }) => id), meta };
    };
    const first = await list("limit=2");
    expect(first.ids).toEqual(newestFirst.slice(0, 2));
    expect(first.meta).toMatchObject({ total: 3, totalPages: 2 });
    expect((await list("limit=2&page=2")).ids).toEqual(newestFirst.slice(2));
    expect((await list(`limit=2&cursor=${first.meta.nextCursor}`)).ids).toEqual(newestFirst.slice(2));
  });

  it("reports the error in a placeholder, also when it is changed", async () => {
    const { id } = await create("Hello");
    for (const body of ["Hi {{name", "Hi {{}}", "Hi {{1x}}"]) {
      const rejected = await customer.call("/v1/templates", { json: { name: "A template", body } });
      expect(errorOf(rejected)).toEqual(invalid);
      expect(invalidFields(rejected)).toEqual(["body"]);
    }
    const response = await change(id, { body: "Hi {{first name}}" });
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response)).toEqual(["body"]);
    expect(response.text).toContain("{{first name}}");
    expect((await read(id)).body).toBe("Hello");
  });

  it("changes only in the given fields, also when others change at the same time", async () => {
    const { id, ...before } = await create("Hello {{a}}");
    const renamed = await change(id, { name: "Renamed" });
    expect(dataOf(renamed, Template)).toMatchObject({ name: "Renamed", body: before.body });
    const untouched = dataOf(await change(id, {}), Template);
    expect(untouched).toEqual(dataOf(renamed, Template));

    const both = await Promise.all([change(id, { name: "Again" }), change(id, { body: "Bye {{b}}" })]);
    expect(statusesOf(both)).toEqual([200, 200]);
    expect(await read(id)).toMatchObject({ name: "Again", body: "Bye {{b}}", placeholders: ["b"] });
    expect((await read(id)).createdAt).toBe(before.createdAt);
    expect(invalidFields(await change(id, { name: null }))).toEqual(["name"]);
  });

  it("is not found by another organization, which can neither change nor use it", async () => {
    const template = await create("Hello");
    expect(errorOf(await stranger.call(`/v1/templates/${template.id}`))).toEqual(notFound);
    expect(errorOf(await change(template.id, { name: "Mine" }, stranger))).toEqual(notFound);
    expect(errorOf(await remove(template.id, stranger))).toEqual(notFound);
    expect(errorOf(await send(template.id, {}, stranger))).toEqual(notFound);
    expect(await read(template.id)).toEqual(template);
    expect((await stranger.call("/v1/templates")).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it("is removed, once, and its place is free again", async () => {
    const full = await Customer.register();
    await updateItem(
      z.unknown(),
      updateOf(keys.organization(full.organizationId), { set: { templateCount: maxTemplates - 1 } }),
    );
    const { id } = await create("Hello", full);
    const another = async () => full.call("/v1/templates", { json: { name: "Another", body: "Hello" } });
    expect(errorOf(await another())).toEqual(conflict);
    const removed = await Promise.all([remove(id, full), remove(id, full), remove(id, full)]);
    expect(statusesOf(removed)).toEqual([200, 404, 404]);
    expect(errorOf(await change(id, { name: "Gone" }, full))).toEqual(notFound);
    expect(statusesOf(await Promise.all([another(), another()]))).toEqual([201, 409]);
  });
});

describe("a send by template", () => {
  it("sends the text with its values, at the price of that text", async () => {
    const { id } = await create("Hi {{name}}, {{code}} is your code");
    const sender = customer;
    const before = await sender.balance();
    const response = await send(id, {
      values: { name: "{{code}}", code: "123456", unused: "x" },
      messageType: "otp",
      language: "Unicode",
    });
    expect(response.status).toBe(202);
    const accepted = dataOf(response, AcceptedMessage);
    expect(accepted).toMatchObject({ status: "queued", to: "15005550000", pricing: { segments: 1 } });
    expect(await sender.message(accepted.id)).toMatchObject({
      message: "Hi {{code}}, 123456 is your code",
      senderId: "ACME",
      messageType: "otp",
      language: "Unicode",
    });
    expect(await sender.balance()).toBeCloseTo(before - 0.0079, 6);
  });

  it("can wait for its time", async () => {
    const { id } = await create("Later");
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const accepted = dataOf(await send(id, { scheduledAt }), AcceptedMessage);
    expect(accepted.scheduledAt).toBe(scheduledAt);
  });

  it("can expire", async () => {
    const { id } = await create("Hello");
    const accepted = dataOf(await send(id, { expiresInSeconds: 60 }), AcceptedMessage);
    expect(Date.parse(accepted.expiresAt ?? "") - Date.parse(accepted.queuedAt)).toBe(60_000);
    expect((await customer.message(accepted.id)).expiresAt).toBe(accepted.expiresAt);
    expect(invalidFields(await send(id, { expiresInSeconds: 59 }))).toEqual(["expiresInSeconds"]);
  });

  it("is done once for each Idempotency-Key", async () => {
    const { id } = await create("Hi {{name}}");
    const headers = { "Idempotency-Key": "template-1" };
    const json = { to: "15005550000", senderId: "ACME", values: { name: "Ada" } };
    const sendOnce = async (fields: object = {}) =>
      customer.call(`/v1/templates/${id}/send`, { json: { ...json, ...fields }, headers });
    const first = await sendOnce();
    const again = await sendOnce();
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(errorOf(await sendOnce({ values: { name: "Eve" } }))).toMatchObject({
      code: "IDEMPOTENCY_KEY_REUSED",
    });
  });

  it.each([
    ["all values missing", {}, ["values.name", "values.code"]],
    ["one value missing", { values: { code: "1" } }, ["values.name"]],
    ["values of a prototype", { values: { constructor: "x", name: "y" } }, ["values.code"]],
    ["a value that is a number", { values: { name: "x", code: 1 } }, ["values.code"]],
    ["a value of 1,601 characters", { values: { name: "x".repeat(1_601), code: "1" } }, ["values.name"]],
    ["values that make an empty text", { values: { name: "", code: "" } }, ["values"]],
    ["values that make 1,601 characters", { values: { name: "x".repeat(1_600), code: "1" } }, ["values"]],
    ["values that are a list", { values: ["x"] }, ["values"]],
    [
      "51 values",
      { values: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`v${index}`, "x"])) },
      ["values"],
    ],
    ["no to", { to: undefined, values: { name: "x", code: "1" } }, ["to"]],
  ])("is rejected with %s and debits nothing", async (_name, fields, paths) => {
    const { id } = await create("{{name}}{{code}}");
    const before = await customer.balance();
    const response = await send(id, fields);
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response)).toEqual(paths);
    expect(await customer.balance()).toBe(before);
  });

  it("accepts 1,600 characters of two units each", async () => {
    const { id } = await create("{{text}}");
    expect((await send(id, { values: { text: "😀".repeat(1_600) } })).status).toBe(202);
  });

  it("fails like any other send without a sender ID or money", async () => {
    const poor = await Customer.register();
    const { id } = await create("Hello", poor);
    expect(errorOf(await send(id, { senderId: undefined }, poor)).code).toBe("MISSING_SENDER_ID");
    expect(errorOf(await send(id, {}, poor))).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
  });

  it("by a removed template is not found", async () => {
    const { id } = await create("Hello");
    await remove(id);
    expect(errorOf(await send(id, {}))).toEqual(notFound);
  });
});
