import { expect, inject } from "vitest";

import { faultsOn } from "../support/browser.ts";
import { it } from "../support/console.ts";

it("the start page fits, is accessible, and leads to the registration", async ({ arrive }) => {
  const visitor = await arrive();
  const { page } = visitor;
  await page.goto(`${inject("baseUrl")}/`);
  await page.getByRole("heading", { level: 1, name: "Send SMS from your code or your browser" }).waitFor();
  expect(await faultsOn(page, "start-page")).toEqual([]);
  await page.getByRole("link", { name: "Create an account" }).click();
  await visitor.heading("Sign up");
});

it("a page shows that an address has none, and leads to the start page", async ({ arrive }) => {
  const { page } = await arrive();
  const response = await page.goto(`${inject("baseUrl")}/no/where`);
  expect(response?.status()).toBe(404);
  await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
  expect(await faultsOn(page, "page-not-found")).toEqual([]);
  await page.getByRole("link", { name: "start page" }).click();
  await page.getByRole("heading", { level: 1, name: "Send SMS from your code or your browser" }).waitFor();
});
