import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { launchBrowser } from "../support/browser.ts";
import { ConsoleVisitor, looks } from "../support/console.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => browser.close());

it.each(looks)("the start page fits and is accessible in $colorScheme at $width px", async (look) => {
  const visitor = await ConsoleVisitor.arrive(browser, look);
  const { page } = visitor;
  await page.goto(`${inject("baseUrl")}/`);
  await page.getByRole("heading", { level: 1, name: "Send SMS from your code or your browser" }).waitFor();
  expect(await visitor.violations()).toEqual([]);
  expect(await visitor.overflowPx()).toBe(0);
  await visitor.screenshot("start-page", look);
  await page.getByRole("link", { name: "Create an account" }).click();
  await visitor.heading("Sign up");
  await visitor.leave();
});
