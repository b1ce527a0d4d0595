import path from "node:path";

import { expect, inject } from "vitest";
import * as z from "zod/mini";

import { Customer, password } from "../support/api.ts";
import { it } from "../support/console.ts";

it("shows the first view with at most 120 kB of compressed files", async ({ arriveAs }) => {
  const visitor = await arriveAs(await Customer.register());
  const { page } = visitor;
  await page.reload();
  await visitor.heading("Overview");
  await visitor.settle();
  const sizes = z
    .array(z.tuple([z.string(), z.number()]))
    .parse(
      await page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]" +
          ".map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])",
      ),
    )
    .filter(([file]) => file.startsWith("/console"));
  expect(sizes.map(([file]) => path.extname(file))).toEqual(expect.arrayContaining(["", ".css", ".js"]));
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  process.stdout.write(`The first view of the console takes ${total} bytes in ${sizes.length} files.\n`);
  expect(total).toBeGreaterThan(20_000);
  expect(total).toBeLessThanOrEqual(120_000);
});

it("shows no documentation, sandbox or top-up on a stage without them", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  const link = page.getByRole("link", { name: "Documentation" });
  expect(await link.getAttribute("href")).toBe(`${inject("baseUrl")}/docs`);
  await visitor.open("send", "Send a message");
  const hint = page.getByText("+1 500 555 0007");
  await hint.waitFor();
  await visitor.replaceInPage("docs payments sandbox top-up", "");
  await visitor.heading("Send a message");
  expect([await link.count(), await hint.count()]).toEqual([0, 0]);
  await visitor.open("wallet", "Wallet");
  await page.getByText("write to the gateway operator").waitFor();
  await page.getByText(customer.organizationId).waitFor();
  expect(await page.getByRole("button", { name: "Add free funds" }).count()).toBe(0);
  await page.getByRole("button", { name: "Log out" }).click();
  await visitor.heading("Log in");
  expect(await link.count()).toBe(0);
});

it("shows the whole menu on a laptop, and explains the rows of prices without a country", async ({
  arriveAs,
}) => {
  const visitor = await arriveAs(await Customer.register(), "prices", "Prices");
  const { page } = visitor;
  await page.setViewportSize({ width: 1366, height: 768 });
  for (const name of ["Security", "Documentation"]) {
    const box = await page.getByRole("link", { name }).boundingBox();
    expect((box?.y ?? 768) + (box?.height ?? 0), name).toBeLessThanOrEqual(768);
  }
  await page.getByRole("row", { name: "+1… United States, Canada and others" }).waitFor();
  await page.getByRole("row", { name: "All other numbers" }).waitFor();
});

it("can be used with the keyboard alone", async ({ arrive }) => {
  const customer = await Customer.register({ balance: 1 });
  await customer.createApiKey();
  const visitor = await arrive();
  const { page } = visitor;
  await page.keyboard.type(customer.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await visitor.heading("Overview");
  await visitor.settle();
  // The focus of a new view is its heading. The skip link is the first element of the page.
  expect(await visitor.focused()).toBe("Overview");
  await page.locator(".skip").focus();
  await page.keyboard.press("Tab");
  expect(await visitor.focused()).toBe("SMS gateway");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  expect(await visitor.focused()).toBe("Overview");
  await visitor.open("api-keys", "API keys");
  await page.getByRole("button", { name: "Disable all keys" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await visitor.focused()).toBe("Disable all keys");
  // The deleted key takes its button with it, and the focus moves to the heading.
  await page.getByRole("button", { name: "Actions for the key" }).focus();
  await page.keyboard.press("Enter");
  await visitor.focusOn("Rotate");
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.getAttribute('aria-haspopup')")).toBe("menu");
  await page.keyboard.press("Enter");
  await visitor.focusOn("Rotate");
  await page.keyboard.press("ArrowUp");
  expect(await visitor.focused()).toBe("Delete");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("No API keys yet").waitFor();
  await visitor.focusOn("API keys");
});

it("shows a page for unknown addresses, and ends an announcement with its view", async ({ arriveAs }) => {
  const visitor = await arriveAs(await Customer.register(), "audit-log", "Audit log");
  const { page } = visitor;
  await visitor.open("nowhere", "Page not found");
  await expect.poll(async () => page.title()).toBe("Page not found · SMS gateway");
  await visitor.open("templates/new", "New template");
  await page.getByLabel("Name").fill("code");
  await page.getByLabel("Text").fill("Your code is {{code}}");
  await page.getByRole("button", { name: "Create template" }).click();
  await visitor.heading("Template code");
  // It survives the navigation that it announces, and ends with the next one.
  const announcement = page.getByText("Template created.");
  await announcement.waitFor();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await visitor.heading("Webhooks");
  expect(await announcement.count()).toBe(0);
});
