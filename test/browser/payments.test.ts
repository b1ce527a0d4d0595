import { readFile } from "node:fs/promises";

import type { Page } from "playwright-core";
import { expect, inject, vi } from "vitest";

import { Customer } from "../support/api.ts";
import { it } from "../support/console.ts";
import { patience } from "../support/patience.ts";
import { payByCard, saveCardOf } from "../support/payments.ts";

const goodCard = "4242424242424242";
const declinedCard = "4000000000000002";
const disputedCard = "4000000000000259";

/** Opens the form to pay, and chooses an amount. */
async function chooseAmount(page: Page, amount: string): Promise<void> {
  await page.getByRole("button", { name: "Add funds", exact: true }).click();
  await page.getByRole("button", { name: amount, exact: true }).click();
}

/** Chooses 50 in the form to pay, and continues to the checkout of a new card. */
async function openCheckout(page: Page): Promise<void> {
  await chooseAmount(page, "50");
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await page.getByRole("heading", { name: "Pay $60.00" }).waitFor();
}

it("leads from an empty wallet to a paid invoice in under a minute", async ({ arrive }) => {
  const customer = await Customer.register();
  const visitor = await arrive();
  const { page } = visitor;
  const beganAtMs = performance.now();
  await visitor.login(customer.email);
  await page.getByRole("link", { name: "Add funds", exact: true }).click();
  await visitor.heading("Payments");
  expect(await page.getByLabel("Amount (USD)").inputValue()).toBe("50");
  await page.getByLabel("Amount (USD)").fill("50,00");
  await page.getByText("US$60.00").waitFor();
  await page.getByLabel("Save this card for later").check();
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await visitor.enterCard(goodCard);

  await visitor.heading("Payment of US$60.00");
  await page.getByText("Paid. Your balance is now US$50.00").waitFor();
  await page.getByText(/^INV-\d{4}-\d{6}$/).waitFor();
  const download = await visitor.save("Download PDF");
  expect(download.suggestedFilename()).toMatch(/^INV-\d{4}-\d{6}\.pdf$/);
  expect((await readFile(await download.path(), "latin1")).slice(0, 5)).toBe("%PDF-");
  const structured = await visitor.save("Download XML");
  expect(await readFile(await structured.path(), "utf8")).toContain("urn:cen.eu:en16931:2017");
  const tookMs = performance.now() - beganAtMs;
  process.stdout.write(`From an empty wallet to its invoice took ${(tookMs / 1_000).toFixed(1)} s.\n`);
  expect(tookMs).toBeLessThan(60_000);

  await page.getByRole("link", { name: "← Payments" }).click();
  await visitor.heading("Payments");
  await page.getByText("✓ Succeeded").waitFor();
  await page.getByRole("link", { name: "Invoices" }).click();
  await visitor.heading("Invoices");
  await page.getByRole("link", { name: "Payment", exact: true }).click();
  await visitor.heading("Payment of US$60.00");
  await page.getByText("✓ Succeeded").waitFor();
  expect(await page.getByText("Your balance is now").count()).toBe(0);
  expect((await customer.client.listPaymentMethods()).map(({ last4 }) => last4)).toEqual(["4242"]);
});

it("continues a checkout that was left after a declined card, also with the Back button", async ({
  arriveAs,
}) => {
  const visitor = await arriveAs(await Customer.register(), "payments", "Payments");
  const { page } = visitor;
  await openCheckout(page);
  await visitor.enterCard(declinedCard);
  await page.getByText("Your card was declined.").waitFor();
  await page.getByRole("link", { name: "Cancel" }).click();
  await visitor.heading("Payment of US$60.00");
  await page.getByText("After you pay, the result appears here. Otherwise it expires").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await page.getByRole("heading", { name: "Pay $60.00" }).waitFor();
  await page.goBack();
  await visitor.heading("Payment of US$60.00");
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await visitor.enterCard(goodCard);
  await page.getByText("Paid. Your balance is now US$50.00").waitFor();
});

it("shows a payment after the Back button, without a result, and after it was abandoned", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "payments", "Payments");
  const { page } = visitor;
  await openCheckout(page);
  const checkout = new URL(page.url());
  await page.goBack();
  await visitor.heading("Payment of US$60.00");
  await page.getByText("This payment is not complete yet.").waitFor();
  // The provider gives up on the checkout, and the open page notices.
  const session = `${checkout.origin}/v1/checkout/sessions/${checkout.pathname.split("/")[2]}`;
  const expired = await fetch(`${session}/expire`, {
    method: "POST",
    headers: { Authorization: "Bearer sk_test_1" },
  });
  expect(expired.status).toBe(200);
  const isOver = page.getByText("This payment was cancelled, or not completed in time. Nothing was charged.");
  await isOver.waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("button", { name: "Try again" }).click();
  expect(await page.getByLabel("Amount (USD)").inputValue()).toBe("50");
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel payment" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel payment" }).click();
  await isOver.waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await visitor.enterCard(goodCard);
  await page.getByText("Paid. Your balance is now US$50.00").waitFor();
});

it("waits for the invoice of a new payment", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const { id } = await payByCard(customer, 50);
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  let requests = 0;
  await page.route(`**/v1/payments/${id}`, async (route) => {
    requests += 1;
    const response = await route.fetch();
    const text = await response.text();
    const body = requests === 1 ? text.replace(/"invoiceNumber":"[^"]+",/, "") : text;
    await route.fulfill({ response, body });
  });
  await visitor.open(`payments/${id}?new`, "Payment of US$60.00");
  await visitor.save("Download PDF");
  expect(requests).toBe(2);
});

it("keeps the session on the way to another site and back", async ({ arriveAs }) => {
  const visitor = await arriveAs(await Customer.register());
  const { page } = visitor;
  await page.route("**/v1/payments", async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace(
      /"checkoutUrl":"[^"]+"/,
      '"checkoutUrl":"https://pay.example/"',
    );
    await route.fulfill({ response, body: text });
  });
  let returnUrl = "";
  page.on("request", (request) => {
    const body: unknown = request.method() === "POST" ? request.postDataJSON() : {};
    if (typeof body === "object" && body !== null && "returnUrl" in body) returnUrl = String(body.returnUrl);
  });
  await page.route("https://pay.example/", async (route) =>
    route.fulfill({
      headers: { "content-type": "text/html", "cross-origin-opener-policy": "same-origin" },
      body: `<title>Checkout</title><link rel="icon" href="data:,"><a href="${returnUrl}">Return</a>`,
    }),
  );
  await visitor.open("payments", "Payments");
  await chooseAmount(page, "20");
  await page.getByRole("button", { name: "Continue to checkout" }).click();
  await page.getByRole("link", { name: "Return" }).click();
  await visitor.heading("Payment of US$24.00");
  await page.getByText("This payment is not complete yet.").waitFor();
  expect(returnUrl).toBe(`${inject("baseUrl")}/console#/payments?returned`);
});

it("shows wrong amounts at the field, and pays once with a saved card although the response is lost", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  await saveCardOf(customer, goodCard);
  const visitor = await arriveAs(customer, "payments", "Payments");
  const { page } = visitor;
  const open = page.getByRole("button", { name: "Add funds", exact: true });
  const amount = page.getByLabel("Amount (USD)");
  const pay = page.getByRole("button", { name: "Pay now" });
  await open.click();
  await page.getByText("From US$5.00 to US$1,000.00.").waitFor();
  await amount.fill("");
  await pay.click();
  await page.getByText("Enter an amount such as 25.").waitFor();
  await amount.fill("4.99");
  await pay.click();
  await page.getByText("Must be an amount from 5 to 1000 USD.").waitFor();
  expect(await amount.getAttribute("aria-invalid")).toBe("true");

  await amount.fill("20");
  // The gateway processes this request, and its response is lost.
  await page.route(
    "**/v1/payments",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await pay.click();
  await page.getByText("The gateway could not be reached.").waitFor();
  await page.keyboard.press("Escape");
  await open.click();
  await page.getByText("Your earlier entries were restored.").waitFor();
  await pay.click();
  await visitor.heading("Payment of US$24.00");
  await page.getByText("Paid. Your balance is now US$20.00.").waitFor();
  expect((await customer.client.listPayments()).meta.total).toBe(1);
});

it("shows how to pay by bank transfer", async ({ arriveAs }) => {
  const customer = await Customer.register();
  const visitor = await arriveAs(customer, "payments", "Payments");
  const { page } = visitor;
  await chooseAmount(page, "100");
  await page.getByLabel("Pay with").selectOption("Bank transfer");
  expect(await page.getByLabel("Save this card").count()).toBe(0);
  await page.getByRole("button", { name: "Show bank details" }).click();
  await visitor.heading("Payment of US$120.00");
  await page.getByText(/^Transfer the total to IBAN/).waitFor();
  const { reference } = await customer.client.getBilling();
  await page.getByRole("button", { name: "Copy" }).last().click();
  await vi.waitFor(
    async () => expect(await page.evaluate("navigator.clipboard.readText()")).toBe(reference),
    patience,
  );
  expect(await visitor.violations()).toEqual([]);
});

it("explains a negative balance, and leads to the payments on a stage without top-ups", async ({
  arriveAs,
}) => {
  const customer = await Customer.register();
  // The bank may take back a payment before the send.
  await vi.waitFor(async () => {
    await payByCard(customer, 20, disputedCard);
    await customer.send();
  }, patience);
  await vi.waitFor(async () => expect((await customer.client.getWallet()).balance).toBeLessThan(0), patience);
  const visitor = await arriveAs(customer);
  const { page } = visitor;
  await visitor.replaceInPage(" top-up", "");
  await page.getByText("Your balance is negative.").waitFor();
  expect(await page.getByRole("link", { name: "Add funds" }).getAttribute("href")).toBe("#/payments?add");
  await visitor.open("send", "Send a message");
  await visitor.fillMessage("15005550000", "hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Your balance is negative, because a bank took back a payment.").waitFor();
  await visitor.open("wallet", "Wallet");
  await page.getByText("A bank took back a payment").waitFor();
  expect(await visitor.violations()).toEqual([]);
  await page.getByRole("link", { name: "Add funds", exact: true }).click();
  await visitor.heading("Payments");
  await page.getByText("Dispute open").first().waitFor();
});
