import { randomUUID } from "node:crypto";

import { decodeQR } from "qr/decode.js";
import { expect, inject } from "vitest";

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
  // A late response would renew the session. The last request is that for the price.
  await page.getByText("US$0.0079 (1 × US$0.0079)").waitFor();
  await visitor.settle();
  const warning = page.getByText("Your session ends in less than two minutes.");
  await page.clock.fastForward("57:00");
  expect(await warning.count()).toBe(0);
  await page.clock.fastForward("01:30");
  await warning.waitFor();
  expect(await visitor.violations()).toEqual([]);
  // A request renews the session.
  await page.getByRole("button", { name: "Stay logged in" }).click();
  await warning.waitFor({ state: "detached" });
  // Twelve hours after the login, only another login does.
  await page.route("**/v1/auth/me", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "x-session-ends-in": "60" } });
  });
  await page.clock.fastForward("58:30");
  await page.getByRole("button", { name: "Stay logged in" }).click();
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

/** The text in the storage of a tab, and the cookies that its scripts can read. */
const readable = "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])";

it("is shared by tabs, survives a reload, and ends in all of them, and no script can read it", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "security", "Security");
  const { page, context } = visitor;
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/", expires: -1 });
  const [, sessionId = "", secret = "no secret"] = cookie?.value.split(".") ?? [];
  const stored = String(await page.evaluate(readable));
  expect(stored).toContain(customer.email);
  expect([stored.includes(secret), stored.includes(sessionId), stored.includes("eyJ")]).toEqual([
    false,
    false,
    false,
  ]);
  await page.reload();
  await visitor.heading("Security");

  const tab = await context.newPage();
  await tab.goto(`${inject("baseUrl")}/console#/wallet`);
  await tab.getByRole("heading", { level: 1, name: "Wallet" }).waitFor();
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await visitor.heading("Log in");
  await tab.getByRole("heading", { level: 1, name: "Log in" }).waitFor();
  expect(await page.evaluate(readable)).toBe('[{},{},""]');
  expect(await tab.evaluate(readable)).toBe('[{},{},""]');
  expect(await context.cookies()).toEqual([]);
  const call = { headers: { Cookie: `${cookie?.name}=${cookie?.value}`, "X-Console": "new" } };
  expect(errorOf(await customer.call("/v1/auth/me", { ...call, credential: "" }))).toMatchObject({
    status: 401,
  });
  await page.goBack();
  await visitor.heading("Log in");
  // A login in one tab is one in all.
  await tab.getByLabel("Email").fill(customer.email);
  await tab.getByLabel("Password").fill(password);
  await tab.getByRole("button", { name: "Log in" }).click();
  await tab.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Log out", exact: true }).waitFor();
});

it("never acts as the user of another tab", async ({ arriveAs }) => {
  const [ada, grace] = [await Customer.register(), await Customer.register()];
  const visitor = await arriveAs(ada);
  // The cookie changes without news, as when the tab was asleep.
  const other = await arriveAs(grace);
  await visitor.context.addCookies(await other.context.cookies());
  await visitor.page.getByRole("navigation").getByRole("link", { name: "Wallet" }).click();
  await visitor.page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  const shown = await visitor.page.getByRole("dialog").innerText();
  expect([shown.includes(ada.email), shown.includes(grace.email)]).toEqual([true, false]);
});

it("completes a log-out that did not reach the gateway, before the next visit", async ({ arriveAs }) => {
  const visitor = await arriveAs(await Customer.register());
  const { page } = visitor;
  const logout = "**/v1/auth/logout";
  await page.route(logout, async (route) => route.abort());
  await page.getByRole("button", { name: "Log out", exact: true }).click();
  await visitor.heading("Log in");
  await page.reload();
  await visitor.heading("Log in");
  await page.unroute(logout);
  await page.reload();
  await visitor.heading("Log in");
  expect(await visitor.context.cookies()).toEqual([]);
  expect(await page.evaluate(readable)).toBe('[{},{},""]');
});

it("lists the sessions, and ends one of them", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "security", "Security");
  const other = await arriveAs(customer);
  const { page } = visitor;
  await page.reload();
  await visitor.heading("Security");
  const rows = page.getByRole("table", { name: "Sessions" }).locator("tbody tr");
  await rows.filter({ hasText: "This browser" }).waitFor();
  expect(await rows.count()).toBe(3);
  const ended = rows.filter({ hasText: "Chrome" }).filter({ hasNotText: "This browser" });
  await visitor.confirm("End session", ended.getByRole("button"));
  await page.getByText("Session ended.").waitFor();
  await ended.waitFor({ state: "detached" });
  await other.page.getByRole("navigation").getByRole("link", { name: "Wallet" }).click();
  await other.page.getByRole("heading", { name: "Your session has ended" }).waitFor();
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
