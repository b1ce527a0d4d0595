import { randomUUID } from "node:crypto";

import type { Page } from "playwright-core";
import { expect, inject } from "vitest";

import { call, Customer, password } from "../support/api.ts";
import { it, watch, type Watched } from "../support/browser.ts";
import { casesOf } from "../support/cases.ts";
import { linkIn } from "../support/emails.ts";

let page: Page;
let watched: Watched;
it.beforeEach(async ({ browser }) => {
  page = await browser.newPage();
  watched = watch(page);
});
it.afterEach(async () => page.close());

async function logIn({ email }: Customer, given: string): Promise<number> {
  return (await call("/v1/auth/login", { json: { email, password: given } })).status;
}

async function said(text: string): Promise<void> {
  await page.getByRole("status").getByText(text).waitFor();
}

it("a link verifies an email when its button is pressed, not when it is opened, and once", async () => {
  const { email } = await Customer.register();
  const link = await linkIn(email, "Verify your email");
  // From the mailbox, as the person would open it.
  await page.goto(inject("mailboxUrl"));
  await page.getByRole("link", { name: link }).click();
  await page.getByRole("button", { name: "Verify the email" }).waitFor();
  // The fragment is in no request and is removed from the address.
  expect(watched.requested.filter((each) => each.includes("usr_"))).toEqual([]);
  expect(watched.requested.filter((each) => each.startsWith("POST"))).toEqual([]);
  expect(page.url()).toBe(`${inject("baseUrl")}/account`);
  await page.getByText("Your password shows that you registered this account").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button").click();
  await said("Your email is verified. Your sessions, API keys and webhooks stay as they are.");
  expect(await page.getByRole("button").count()).toBe(0);
  expect(await page.getByRole("link", { name: "Log in" }).getAttribute("href")).toBe("console");
  expect(watched.complaints).toEqual([]);

  // The same tab: only the fragment changes.
  await page.goto(link);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Verify the email" }).click();
  await said("The link was used, has expired, or a newer email has replaced it.");
  await page.getByRole("link", { name: "Log in to get a new link" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

it("a link sets a new password, and an invalid password is explained", async () => {
  const customer = await Customer.register();
  const newPassword = "staple battery horse";
  const asked = await call("/v1/auth/password-reset/request", { json: { email: customer.email } });
  expect(asked.status).toBe(202);
  await page.goto(await linkIn(customer.email, "Set a new password"));
  await page.getByRole("heading", { name: "Set a new password" }).waitFor();
  await page.getByLabel("New password").fill("ü".repeat(40));
  await page.getByRole("button", { name: "Set the password" }).click();
  await said("must be at most 72 bytes long in UTF-8");
  await page.getByLabel("New password").fill(newPassword);
  await page.getByRole("button", { name: "Set the password" }).click();
  await said("Your password is set");
  expect(await logIn(customer, password)).toBe(401);
  expect(await logIn(customer, newPassword)).toBe(200);
  expect(watched.complaints.filter((each) => !each.includes("400"))).toEqual([]);
});

it("the page has the brand, and the colors of the person's theme", async () => {
  await page.goto(`${inject("baseUrl")}/account#reset=usr_none`);
  await page.getByRole("link", { name: "SMS gateway" }).waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(background).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(14, 20, 18)");
  }
  await page.getByLabel("New password").fill("staple battery horse");
  await page.getByRole("button").click();
  await said("The link was used, has expired, or a newer email has replaced it.");
  await page.getByRole("link", { name: "Get a new link" }).click();
  await page.getByRole("heading", { name: "password" }).waitFor();
});

it("an invitation leads into the console, or names the organization and where to log in", async () => {
  const owner = await Customer.register();
  const [, token = ""] = (await linkIn(owner.email, "Verify your email")).split("#verify=");
  await owner.client.verifyEmail({ body: { token, password } });
  const session = await owner.client.login({ body: { email: owner.email, password } });
  expect(session.user.emailVerified).toBe(true);
  const credential = session.token;
  const accept = async (): Promise<string> => {
    const email = `${randomUUID()}@example.com`;
    const invited = await call("/v1/members", { credential, json: { email, role: "viewer" } });
    expect(invited.status, invited.text).toBe(201);
    const link = await linkIn(email, "You are invited");
    await page.goto(link);
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button").click();
    return link;
  };
  await page.route("**/v1/auth/console-session", async (route) => route.abort(), { times: 1 });
  await accept();
  await said(`You are now a member of ${owner.email}.`);
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  const link = await accept();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByText(owner.email).waitFor();
  await page.goto(link);
  await page.getByLabel("New password").fill(password);
  await page.getByRole("button").click();
  await said("Ask the person who invited you for a new link.");
});

it("an invitation requests names and a password", async () => {
  await page.goto(`${inject("baseUrl")}/account#invitation=usr_none`);
  await page.getByRole("heading", { name: "Accept the invitation" }).waitFor();
  for (const label of ["First name", "Last name", "New password"]) {
    expect(await page.getByLabel(label).isVisible()).toBe(true);
  }
});

it.each(["", "#", "#verify", "#verify=", "#constructor=1", "#__proto__=1", "#other=1"])(
  "the page does nothing when its address ends with %j",
  async (fragment) => {
    await page.goto(`${inject("baseUrl")}/account${fragment}`);
    await said("This page is for links in emails.");
    expect(await page.getByRole("button").count()).toBe(0);
    expect(watched.complaints).toEqual([]);
  },
);

it("the page follows its security policy, and its fragment is never HTML", async () => {
  const answer = await fetch(`${inject("baseUrl")}/account`);
  expect(answer.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'self' 'sha256-[^ ]+'; img-src 'self' data:; connect-src 'self'; /,
  );
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  await page.goto(`${inject("baseUrl")}/account#verify=<img src=x onerror=document.title='evil'>`);
  await said("This page is for links in emails. Open the complete link again.");
  await page.goto(`${inject("baseUrl")}/account#verify=usr_none~<img src=x onerror=document.title='evil'>`);
  await page.getByRole("heading", { name: "Verify your email" }).waitFor();
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.title()).toBe("Verify your email");
});

it.for(casesOf("browser"))("$title", async ({ input, expected }) => {
  const { email } = await Customer.register();
  const [, token = ""] = /#verify=([^\s~]+)/.exec(await linkIn(email, "Verify your email")) ?? [];
  const fragment = String(input["fragment"])
    .replace("{link}", token)
    .replace("{email}", encodeURIComponent(email));
  await page.goto(`${inject("baseUrl")}/account#${fragment}`);
  await page.getByLabel("Password", { exact: true }).fill(password);
  const keptWith = await page.locator("#email").inputValue();
  await page.getByRole("button").click();
  await said("Your email is verified.");
  expect(`verified, the password is kept with ${keptWith === email ? "the email" : "nothing"}`).toMatch(
    new RegExp(expected),
  );
});
