import { readFile } from "node:fs/promises";

import { describe, expect, it } from "vitest";

import { pageTables, tablePattern } from "../../infra/local/recordings/page-tables.ts";
import { errorCatalogue } from "../../shared/api/contract/errors.ts";
import { AddPaymentMethodRequest } from "../../shared/api/contract/payments.ts";
import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { samplesOf } from "../../shared/api/openapi/samples.ts";
import { routes } from "../../shared/api/routes.ts";
import { errorsOf, statusOf, type TaggedRoute } from "../../shared/api/routes/route.ts";
import { schemaProblem } from "../support/contract.ts";

const document = openApiDocument();
/** The document with operations that are not for customers. */
const whole = openApiDocument({ internal: true });
const rows = Object.entries<TaggedRoute>(routes);

describe("the OpenAPI document", () => {
  it("has all operations for customers with samples in six languages, and no others", () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
    );
    const expected = rows.filter(([, { internal }]) => internal !== true).map(([operation]) => operation);
    expect(documented.map(({ operationId }) => operationId).toSorted()).toEqual(expected.toSorted());
    expect(expected).not.toContain("getCarrierCallback");
    for (const operation of documented) {
      const { operationId, security } = operation;
      const samples = samplesOf(operation);
      expect(samples.map(({ lang }) => lang)).toEqual(["curl", "typescript", "python", "php", "go", "java"]);
      for (const { source } of samples) {
        expect(/SMS_GATEWAY_(KEY|TOKEN)/.test(source), operationId).toBe(security.length > 0);
      }
    }
  });

  it("names every enum, so that generated clients have a type for it", () => {
    const named = new Set<unknown>(Object.values(document.components.schemas));
    const unnamed: unknown[] = [];
    JSON.stringify(document, (_key, value: unknown) => {
      if (Array.isArray(Object(value).enum) && !named.has(value)) unnamed.push(value);
      return value;
    });
    expect(unnamed).toEqual([]);
    expect(document.components.schemas["ErrorCode"]?.enum).toEqual(Object.keys(errorCatalogue));
  });

  it.each(rows)("describes %s with all of its errors", (operation, route) => {
    const described = whole.paths[route.path]?.[route.method.toLowerCase()];
    expect(described).toMatchObject({ operationId: operation, tags: [route.tag], summary: route.summary });
    const descriptions = Object.values(described?.responses ?? {}).map(({ description }) => description);
    const codes = descriptions.join(" ").match(/\b[A-Z]{2}[A-Z_]+\b/g);
    expect(new Set(codes)).toEqual(new Set(errorsOf(route)));
  });

  const enveloped = rows.filter(([, { raw }]) => raw === undefined);
  it.each(enveloped)("has a recorded example of %s that is still correct", (_operation, route) => {
    const method = route.method.toLowerCase();
    const place = [
      "paths",
      route.path,
      method,
      "responses",
      String(statusOf(route)),
      "content",
      "application/json",
    ];
    const media =
      whole.paths[route.path]?.[method]?.responses[statusOf(route)]?.content?.["application/json"];
    expect(media?.example, "record it: npm run openapi -- --update").toBeDefined();
    expect(schemaProblem([...place, "schema"], media?.example)).toBeUndefined();
  });

  const withBody = rows.filter(([, { body }]) => body !== undefined);
  it.each(withBody)("has an example of the body of %s that is valid", (_operation, route) => {
    const { requestBody } = whole.paths[route.path]?.[route.method.toLowerCase()] ?? {};
    const example = requestBody?.content["application/json"]?.example;
    expect(example, "register the body's schema with examples").toBeDefined();
    expect(route.body?.safeParse(example).error).toBeUndefined();
  });

  it("states no pattern that needs a flag, and accepts the return addresses that the gateway accepts", () => {
    expect(JSON.stringify(document)).not.toMatch(/"pattern":"[^"]*\\\\p\{/);
    const place = ["components", "schemas", "AddPaymentMethodRequest"];
    for (const name of ["é", "\u{1f600}"]) {
      const request = { returnUrl: `https://shop.example/${name}` };
      expect(schemaProblem(place, request), name).toBeUndefined();
      expect(AddPaymentMethodRequest.safeParse(request).success, name).toBe(true);
    }
  });

  it.each(Object.entries(document["x-webhooks"]))("has an example of the event %s", (name, { post }) => {
    const place = ["x-webhooks", name, "post", "requestBody", "content", "application/json", "schema"];
    const { example } = post.requestBody.content["application/json"] ?? {};
    expect(example, "write one under webhooks in shared/api/contract/examples.json").toBeDefined();
    expect(schemaProblem(place, example)).toBeUndefined();
  });
});

it.each(pageTables)("$page lists all $name as the contract has them", async ({ page, name, table }) => {
  const [found = ""] = tablePattern(name).exec(await readFile(page, "utf8")) ?? [];
  const cells = (text: string): string[] =>
    text.split(/[|\n]/).map((cell) => cell.replace(/-{3,}/, "-").trim());
  expect(cells(found), "bring it up to date: npm run openapi -- --update").toEqual(cells(table));
});
