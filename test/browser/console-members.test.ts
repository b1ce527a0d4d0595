import { randomUUID } from "node:crypto";

import { expect, inject } from "vitest";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { createClient } from "../../shared/api/client/client.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { Customer, password } from "../support/api.ts";
import { faultsOn } from "../support/browser.ts";
import { it } from "../support/console.ts";
import { joinAs } from "../support/members.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

it("invites a member, changes the role, and removes the member", async ({ arriveAs }) => {
  const customer = await Customer.register();
  await noteVerifiedEmail(customer.organizationId);
  const visitor = await arriveAs(customer, "members", "Members");
  const { page } = visitor;
  await page.getByText("Only owner", { exact: true }).waitFor();
  const invite = async (email: string): Promise<void> => {
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send invitation" }).click();
  };
  await page.getByRole("button", { name: "Invite member" }).click();
  await invite("no email");
  await page.getByText("must be an email address").waitFor();
  await invite(customer.email);
  await page.getByText("This email already belongs to a member.").waitFor();
  const guest = `${randomUUID()}@example.com`;
  await page.getByLabel("Role").selectOption("viewer");
  await invite(guest);
  const invited = page.getByRole("row").filter({ hasText: guest });
  await invited.getByText("◷ invited").waitFor();
  await invited.getByRole("button", { name: `Actions for the invitation to ${guest}` }).click();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("menuitem", { name: "Resend invitation" }).click();
  await page.getByText("Invitation sent again.").waitFor();
  await visitor.choose(`the invitation to ${guest}`, "Revoke");
  await page.getByText("No pending invitations").waitFor();

  const { email } = await joinAs("viewer", customer);
  await page.reload();
  const member = page.getByRole("row").filter({ hasText: email });
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: "Change role" }).click();
  await page.getByRole("dialog").getByLabel("Role").selectOption("admin");
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await member.getByRole("cell", { name: "Admin", exact: true }).waitFor();
  await visitor.choose(email, "Remove");
  await member.waitFor({ state: "detached" });
  expect((await customer.client.listMembers()).rows.map((each) => each.email)).toEqual([customer.email]);
});

it("offers members only the actions of their role, and lets an admin leave", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const viewer = await joinAs("viewer", customer);
  const { page: readOnly } = await arriveAs(viewer, "members", "Members");
  await readOnly.getByText("Only owners and admins can invite, change and remove members.").waitFor();
  expect(await readOnly.locator("main").getByRole("button").count()).toBe(0);

  const visitor = await arriveAs(await joinAs("admin", customer), "members", "Members");
  const { page } = visitor;
  await page.getByRole("button", { name: "Invite member" }).click();
  const roles = await page.getByLabel("Role").getByRole("option").allInnerTexts();
  expect(roles).toEqual(["Admin", "Billing", "Developer", "Sender", "Viewer"]);
  await page.keyboard.press("Escape");
  const owner = page.getByRole("row").filter({ hasText: customer.email });
  expect(await owner.getByRole("button").count()).toBe(0);
  await page.getByRole("button", { name: `Actions for ${viewer.email}` }).click();
  expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["Change role", "Remove"]);
  await page.keyboard.press("Escape");
  await page.getByRole("row").filter({ hasText: "you" }).getByRole("button").click();
  await page.getByRole("menuitem", { name: "Leave" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await visitor.heading("Log in");
  const { rows } = await customer.client.listMembers();
  expect(rows.map(({ email }) => email)).toEqual([customer.email, viewer.email]);
});

it("requires two-factor of all members, and leads a member to set it up and on", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const member = await arriveAs(await joinAs("sender", customer), "contacts", "Contacts");
  const visitor = await arriveAs(customer, "members", "Members");
  const { page } = visitor;
  const requireIt = page.getByRole("button", { name: "Require two-factor" });
  expect(await requireIt.isDisabled()).toBe(true);
  await page.getByText("Set it up for yourself first.").waitFor();
  await enableSecondFactor(customer);
  await page.reload();
  await requireIt.click();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Require two-factor" }).click();
  await page.getByText("Two-factor authentication is required.").waitFor();
  await visitor.open("security", "Security");
  await page.getByText("Your organization requires two-factor authentication.").waitFor();
  expect(await page.getByText("Disable two-factor authentication").count()).toBe(0);

  await member.page.getByRole("navigation").getByRole("link", { name: "Templates" }).click();
  await member.heading("Security");
  await member.page.getByText("Set it up to continue.").waitFor();
  expect(await faultsOn(member.page, "security-required")).toEqual([]);
  await member.page.getByLabel("Confirm your password").fill(password);
  await member.page.getByRole("button", { name: "Enable" }).click();
  const secret = await member.page.locator(".secret code").innerText();
  const code = totpCode(secret, totpStepAt(new Date()));
  await member.page.getByLabel("Authentication code").fill(code);
  await member.page.getByRole("button", { name: "Confirm" }).click();
  await member.page.getByText("Save these recovery codes.").waitFor();
  await member.page.getByRole("link", { name: "Continue" }).click();
  await member.heading("Templates");
  await member.page.getByText("No templates").waitFor();

  await visitor.open("members", "Members");
  expect(await faultsOn(page, "members-required")).toEqual([]);
  await visitor.confirm("Stop requiring two-factor");
  await page.getByText("Two-factor authentication is not required.").waitFor();
});

it("names people and keys in the audit log, also a deleted key", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const { email } = await joinAs("admin", customer);
  await createClient({ baseUrl: inject("baseUrl") }).login({ body: { email, password } });
  for (const [name, isDeleted] of [
    ["shop", false],
    ["gone", true],
  ] as const) {
    const { id, secret } = await customer.client.createApiKey({ body: { name } });
    const json = { lowBalanceThreshold: 5 };
    await customer.call("/v1/wallet", { method: "PATCH", json, credential: secret });
    if (isDeleted) await customer.client.deleteApiKey({ params: { id } });
  }
  const visitor = await arriveAs(customer, "audit-log", "Audit log");
  const { page } = visitor;
  for (const name of ["You", email, "API key shop", "API key gone"]) {
    await page.getByRole("cell", { name, exact: true }).first().waitFor();
  }
  expect(await page.locator("td[data-title=Actor]").filter({ hasText: "_01" }).count()).toBe(0);
});
