import { mkdir } from "node:fs/promises";
import path from "node:path";

import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { launchBrowser, watch } from "../support/browser.ts";
import { looks } from "../support/console.ts";
import { card, checkout, startStripe, type TestStripe } from "../support/stripe.ts";

/*
 * The pages of the local payment provider, as a customer and a developer use them. `SCREENS=1` also takes screenshots.
 */

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => browser.close());

const Findings = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

/** Opens a checkout whose success page is the provider's dashboard. */
async function openCheckout({ client, server }: TestStripe, page: Page): Promise<void> {
  const dashboard = `${server.url}/dashboard`;
  const { url } = await client.checkout.sessions.create({ ...checkout, success_url: dashboard });
  await page.goto(url ?? "");
}

async function fillCard(page: Page, number: string): Promise<void> {
  await page.getByLabel("Card number").fill(number);
  await page.getByLabel("Expiry").fill(card.expiry);
  await page.getByLabel("CVC").fill(card.cvc);
  await page.getByLabel("Name on card").fill(card.name);
  await page.getByLabel("Country").selectOption({ label: "Germany" });
  await page.getByRole("button", { name: "Pay €59.50" }).click();
}

it.each(looks)("all pages are accessible at $width pixels, $colorScheme", async ({ colorScheme, width }) => {
  const stripe = await startStripe();
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  await context.addInitScript({ content: axe.source });
  const page = await context.newPage();
  const { complaints } = watch(page);
  const check = async (name: string): Promise<void> => {
    const { violations } = Findings.parse(await page.evaluate("axe.run()"));
    expect(violations, name).toEqual([]);
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(overflow), name).toBe(0);
    if (process.env["SCREENS"] === undefined) return;
    const folder = path.join(".build", "screens");
    await mkdir(folder, { recursive: true });
    const file = path.join(folder, `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path: file, fullPage: true });
  };

  await openCheckout(stripe, page);
  await check("checkout");
  await fillCard(page, "4000 0000 0000 0002");
  await page.getByRole("alert").filter({ hasText: "Your card was declined." }).waitFor();
  await check("checkout-declined");
  await fillCard(page, "4000 0027 6000 3184");
  await page.getByRole("button", { name: "Complete authentication" }).waitFor();
  await check("checkout-authentication");
  await page.getByRole("button", { name: "Complete authentication" }).click();
  await page.getByRole("heading", { name: "Payments" }).waitFor();

  await openCheckout(stripe, page);
  await fillCard(page, "4000 0000 0000 0259");
  await page.getByRole("heading", { name: "Payments" }).waitFor();
  stripe.clock.now += 2_000;
  await page.reload();
  await check("dashboard");
  await page.getByRole("button", { name: "Win dispute" }).click();
  await page.getByText("dispute: won").waitFor();
  await page.getByRole("button", { name: "Refund payment" }).first().click();
  await page.getByText("refunded €59.50").waitFor();

  await openCheckout(stripe, page);
  stripe.clock.now += 86_400_000;
  await page.reload();
  await page.getByRole("heading", { name: "This checkout has expired" }).waitFor();
  await check("checkout-expired");
  expect(complaints).toEqual([]);
  await context.close();
});

it("a success page on another origin is reached, as the security policy allows it", async () => {
  const stripe = await startStripe();
  const page = await browser.newPage();
  await page.route("https://example.com/**", async (route) => route.fulfill({ body: "Thank you" }));
  const { complaints } = watch(page);
  const { id, url } = await stripe.client.checkout.sessions.create(checkout);
  await page.goto(url ?? "");
  await fillCard(page, card.number);
  await page.waitForURL(`https://example.com/paid?session=${id}`);
  expect(complaints).toEqual([]);
  await page.close();
});
