import { createServer } from "node:http";

import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { faultsOn, it, watch } from "../support/browser.ts";
import { card, checkout, startStripe, type TestStripe } from "../support/stripe.ts";

/*
 * The pages of the local payment provider, as a customer and a developer use them.
 */

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

it("all pages fit and are accessible", async ({ browser }) => {
  const stripe = await startStripe();
  const page = await browser.newPage({ reducedMotion: "reduce" });
  const { complaints } = watch(page);
  const check = async (name: string): Promise<void> => expect(await faultsOn(page, name)).toEqual([]);

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
  await page.close();
});

it("a success page on another origin is reached, as the security policy allows it", async ({ browser }) => {
  const stripe = await startStripe();
  const page = await browser.newPage();
  const { complaints } = watch(page);
  const shop = createServer((_, response) => response.end("Thank you"));
  onTestFinished(() => void shop.close());
  const success_url = `http://127.0.0.1:${await listenOnLoopback(shop)}/paid?session={CHECKOUT_SESSION_ID}`;
  const { id, url } = await stripe.client.checkout.sessions.create({ ...checkout, success_url });
  await page.goto(url ?? "");
  await fillCard(page, card.number);
  await page.getByText("Thank you").waitFor();
  expect(page.url()).toBe(success_url.replace("{CHECKOUT_SESSION_ID}", id));
  expect(complaints).toEqual([]);
  await page.close();
});
