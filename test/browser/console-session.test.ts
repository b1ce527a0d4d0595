import { randomUUID } from "node:crypto";

import { decodeQR } from "qr/decode.js";
import { expect } from "vitest";
import * as z from "zod/mini";

import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { Customer, errorOf, password } from "../support/api.ts";
import { it } from "../support/console.ts";

it("warns before the session ends, and continues after a new login with the same input", async ({
  arrive,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arrive();
  const { page } = visitor;
  await page.clock.install();
  await page.reload();
  await visitor.heading("Log in");
  await visitor.login(customer.email);
  await visitor.open("send", "Send a message");
  await visitor.fillMessage("15005550000", "typed before");
  const warning = page.getByText("Your session ends in less than two minutes.");
  await page.clock.fastForward("57:00");
  expect(await warning.count()).toBe(0);
  await page.clock.fastForward("01:30");
  await warning.waitFor();
  await page.getByRole("button", { name: "Stay logged in" }).click();
  expect(await visitor.violations()).toEqual([]);
  await page.getByLabel("Password").fill(`not ${password}`);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("The email or the password is wrong.").waitFor();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await warning.count()).toBe(0);

  // The new session is ended elsewhere. The next send waits for a new login and is then repeated.
  await customer.client.logoutEverywhere();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("Just sent").waitFor();
});

it("clears everything at logout, and ends the session at the gateway", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  const Stored = z.object({ token: z.string() });
  const { token } = Stored.parse(JSON.parse(z.string().parse(await page.evaluate("sessionStorage.session"))));
  await visitor.open("wallet", "Wallet");
  await page.getByRole("button", { name: "Log out" }).click();
  await visitor.heading("Log in");
  expect(await page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]")).toEqual([
    0,
    0,
    "",
  ]);
  expect(errorOf(await customer.call("/v1/auth/me", { credential: token }))).toMatchObject({ status: 401 });
  await page.goBack();
  await visitor.heading("Log in");
});

it("changes the password, sets up a second factor, and logs in with both", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const newPassword = `${password} staple`;
  const visitor = await arriveAs(customer, "security", "Security");
  const { page } = visitor;
  await page.getByLabel("Current password").fill(password);
  await page.getByLabel("New password").fill(newPassword);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  await page.getByLabel("Confirm your password").fill(newPassword);
  await page.getByRole("button", { name: "Enable" }).click();
  const secret = await page.locator(".secret code").innerText();
  const code = page.getByRole("img", { name: "QR code of the secret" });
  const { searchParams, hostname } = new URL(decodeQR(await visitor.pixelsOf(code)));
  expect([hostname, searchParams.get("secret")]).toEqual(["totp", secret]);
  expect(await visitor.violations()).toEqual([]);
  await page.getByLabel("Authentication code").fill(totpCode(secret, totpStepAt(new Date())));
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("Save these recovery codes.").waitFor();
  expect(await visitor.violations()).toEqual([]);
  const recoveryCodes = (await page.getByLabel("Recovery codes").innerText()).trim().split("\n");
  const [recoveryCode = "", another = ""] = recoveryCodes;
  await page.getByLabel("Current password").fill(newPassword);
  await page.getByLabel("New password").fill(password);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByLabel("Code", { exact: true }).fill(another);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText("Password changed.").waitFor();
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await visitor.heading("Log in");
  await page.getByLabel("Email").fill(customer.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByLabel("Code").fill(recoveryCode);
  await page.getByRole("button", { name: "Log in" }).click();
  await visitor.heading("Overview");
});

it("sends a password reset link", async ({ arrive }) => {
  const visitor = await arrive();
  const { page } = visitor;
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await visitor.heading("Reset your password");
  await page.getByLabel("Email").fill("no email");
  await page.getByRole("button", { name: "Send link" }).click();
  await page.getByText("must be an email address").waitFor();
  await page.getByLabel("Email").fill(`${randomUUID()}@example.com`);
  await page.getByRole("button", { name: "Send link" }).click();
  await page.getByText("you will receive an email with a link").waitFor();
  expect(await visitor.violations()).toEqual([]);
});
