import type { Browser, Page, Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from "vitest";

import { errorCatalogue } from "../../shared/contract/errors.ts";
import { EventName } from "../../shared/contract/events.ts";
import { publicOperations } from "../../shared/routes.ts";
import { password } from "../support/api.ts";
import { launchBrowser, watch, type Watched } from "../support/browser.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => browser.close());

let page: Page;
let watched: Watched;
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  watched = watch(page);
  await page.goto(`${inject("baseUrl")}/docs`);
  await page.getByRole("heading", { name: "SMS gateway" }).waitFor();
});
afterEach(async () => page.close());

/** Opens an operation, fills in its body, sends it from the page, and returns what came back. */
async function tryOut(operation: string, body: object): Promise<Response> {
  const block = page.locator(`[id$="-${operation}"]`);
  await block.locator(".opblock-summary-control").click();
  await block.locator("textarea.body-param__text").fill(JSON.stringify(body));
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await block.getByRole("button", { name: "Execute" }).click();
  const response = await answered;
  await block.locator(".live-responses-table").getByText(String(response.status())).first().waitFor();
  return response;
}

it("a newcomer registers, tops up and sends a message from the page alone", async () => {
  const email = `${Date.now()}@example.com`;
  const registered = await tryOut("register", { email, password });
  expect(registered.status()).toBe(201);
  // The token is read off the page, as a person would copy it.
  const shown = await page.locator('[id$="-register"] .live-responses-table').innerText();
  const token = /"token":\s*"([^"]+)"/.exec(shown)?.[1] ?? "";

  await page.locator(".auth-wrapper .authorize").first().click();
  await page.locator(".modal-ux input").fill(token);
  await page.locator(".modal-ux").getByRole("button", { name: "Apply credentials" }).click();
  await page.locator(".modal-ux").getByRole("button", { name: "Close" }).click();

  expect((await tryOut("topUpWallet", { amount: 5 })).status()).toBe(200);
  const sent = await tryOut("sendSms", { to: "15005550000", message: "hello", senderId: "ACME" });
  expect(sent.status()).toBe(202);
  expect(watched.complaints).toEqual([]);
});

it("loads everything from the gateway itself, within its own security policy", async () => {
  await page.waitForLoadState("networkidle");
  expect(watched.requested.map((each) => each.replace(inject("baseUrl"), "")).toSorted()).toEqual([
    "GET /brand/icon.svg",
    "GET /brand/theme.css",
    "GET /docs",
    "GET /docs/swagger-ui-bundle.js",
    "GET /docs/swagger-ui.css",
    "GET /openapi.json",
  ]);
  expect(watched.complaints).toEqual([]);
});

it("shows every operation, the errors and the webhooks", async () => {
  const text = await page.locator("body").innerText();
  const paths = publicOperations().map(([, route]) => route.path);
  for (const each of [...paths, ...Object.keys(errorCatalogue), ...EventName.options]) {
    expect(text).toContain(each);
  }
});
