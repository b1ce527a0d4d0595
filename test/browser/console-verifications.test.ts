import { expect } from "vitest";

import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";

it("adapts a profile, verifies a number, and connects a login system", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 10 });
  const { client } = customer;
  const visitor = await arriveAs(customer, "verification-profiles", "Verification profiles");
  const { page } = visitor;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Texts").fill("en: no placeholder\nde: {code} von {brand}");
  await dialog.getByLabel("Countries").fill("gb, us");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Must contain {code} exactly once").waitFor();
  await dialog.getByLabel("Texts").fill("de: {code}\n  von {brand}\nen: {code}");
  await dialog.getByLabel("From").fill("ADASHOP");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("Profile saved.").first().waitFor();
  const params = { name: "default" };
  expect(await client.getVerificationProfile({ params })).toMatchObject({
    texts: { de: "{code}\nvon {brand}", en: "{code}" },
    countries: ["GB", "US"],
    senderId: "ADASHOP",
  });
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Edit" }).click();
  expect(await dialog.getByLabel("Texts").inputValue()).toBe("de: {code}\n  von {brand}\nen: {code}");

  await visitor.open("verifications", "Verifications");
  await page.getByRole("button", { name: "New verification" }).click();
  await dialog.getByLabel("Phone number").fill("+1 500 555 0007");
  await dialog.getByLabel("Your own code").fill("271828");
  await dialog.getByRole("button", { name: "Send code" }).click();
  await page.getByText("Code sent.").first().waitFor();
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await dialog.getByLabel("Code").fill("314159");
  await dialog.getByRole("button", { name: "Check", exact: true }).click();
  await dialog.getByText("This code is wrong. Checks left: 4.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await dialog.getByLabel("Code").fill("271828");
  await dialog.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("cell", { name: "Approved" }).waitFor();
  await page.reload();
  await page.getByRole("row", { name: "100%" }).waitFor();
  await page.getByLabel("Status").selectOption("Blocked");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("No verifications").waitFor();
  expect(await page.content()).not.toContain("271828");

  await visitor.open("hooks", "Login hooks");
  await page.getByRole("button", { name: "New hook" }).click();
  await dialog.getByLabel("Login system").selectOption("Logto");
  await dialog.getByRole("button", { name: "Create hook" }).click();
  await page.getByText(/^hook_[\w-]{43}$/).waitFor();
  await page.getByRole("cell", { name: "Active" }).waitFor();
  expect(await visitor.violations()).toEqual([]);
  await visitor.confirm("Delete");
  await page.getByText("No hooks yet").waitFor();
});
