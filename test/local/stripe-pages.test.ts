import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { card, checkout, saveCard, sendForm, startStripe, type TestStripe } from "../support/stripe.ts";

async function openCheckout({ client }: TestStripe): Promise<{ id: string; url: string }> {
  const { id, url } = await client.checkout.sessions.create(checkout);
  return { id, url: url ?? "" };
}

async function page(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "stripe-"));
  onTestFinished(async () => rm(folder, { recursive: true }));
  return folder;
}

it("shows what is paid, the test cards, and a way back, without scripts", async () => {
  const stripe = await startStripe();
  const { url } = await openCheckout(stripe);
  const response = await fetch(url);
  expect(response.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-.*; form-action 'self' https:\/\/example.com; frame-ancestors 'none'$/,
  );
  const html = await response.text();
  expect(html).not.toContain("<script");
  for (const text of [
    "<h1>Pay €59.50</h1>",
    "<dt>SMS balance</dt><dd>€50.00</dd>",
    "<dt>Tax 19 %</dt><dd>€9.50</dd>",
    "4000 0027 6000 3184",
    '<a href="https://example.com/cancelled">Cancel</a>',
  ]) {
    expect(html).toContain(text);
  }
});

it("leads to the success page with the session's id, once", async () => {
  const stripe = await startStripe();
  const { id, url } = await openCheckout(stripe);
  const success = `https://example.com/paid?session=${id}`;
  expect((await sendForm(url, card)).location).toBe(success);
  expect((await sendForm(url, card)).location).toBe(success);
  expect((await stripe.client.paymentIntents.list()).data).toHaveLength(1);
  expect(await page(url)).toContain("<h1>This checkout is complete</h1>");
});

it("shows a decline, keeps what is not secret, and allows another card", async () => {
  const stripe = await startStripe();
  const { id, url } = await openCheckout(stripe);
  const name = `<b>"Ada"</b>`;
  const declined = await sendForm(url, { ...card, name, number: "4000000000000002" });
  expect(declined.location).toBeUndefined();
  expect(declined.html).toContain('<p class="alert" role="alert">Your card was declined.</p>');
  expect(declined.html).toContain('value="&lt;b&gt;&quot;Ada&quot;&lt;/b&gt;"');
  expect(declined.html).toContain('<option value="GB" selected>');
  expect(declined.html).not.toContain("4000000000000002");
  expect(await page(url)).toContain("Your card was declined.");
  const before = await stripe.client.checkout.sessions.retrieve(id, { expand: ["payment_intent"] });
  expect(before).toMatchObject({
    status: "open",
    payment_intent: {
      status: "requires_payment_method",
      last_payment_error: { code: "card_declined", decline_code: "generic_decline" },
    },
  });
  expect((await sendForm(url, card)).location).toContain("https://example.com/paid");
  const after = await stripe.client.checkout.sessions.retrieve(id, { expand: ["payment_intent"] });
  expect(after.payment_intent).toMatchObject({ status: "succeeded", last_payment_error: null });
  expect((await stripe.client.paymentIntents.list()).data).toHaveLength(1);
});

it.each([
  [{ number: "4242" }, "The card number must have 16 digits."],
  [{ number: "1111111111114242" }, "Your card was declined. It is not a test card."],
  [{ expiry: "13/40" }, "The expiry must be a month and a year."],
  [{ expiry: "12/20" }, "The card has expired."],
  [{ cvc: "12" }, "The CVC must have 3 or 4 digits."],
  [{ name: "" }, "The name on the card is required."],
  [{ country: "XX" }, "must be an ISO 3166-1 code"],
])("does not accept %o", async (fields, problem) => {
  const stripe = await startStripe();
  const { id, url } = await openCheckout(stripe);
  expect((await sendForm(url, { ...card, ...fields })).html).toContain(problem);
  expect((await stripe.client.checkout.sessions.retrieve(id)).status).toBe("open");
});

it("lets the cardholder authenticate, or fail and try again", async () => {
  const stripe = await startStripe();
  const { id, url } = await openCheckout(stripe);
  const fields = { ...card, number: "4000 0027 6000 3184" };
  const { location = "" } = await sendForm(url, fields);
  expect(location).toBe(`${url}/authenticate`);
  expect(await page(location)).toContain("Complete authentication");
  const { payment_intent } = await stripe.client.checkout.sessions.retrieve(id, {
    expand: ["payment_intent"],
  });
  expect(payment_intent).toMatchObject({ status: "requires_action" });

  expect((await sendForm(location, { outcome: "fail" })).location).toBe(url);
  expect(await page(url)).toContain("The bank could not authenticate you.");
  // The page of an earlier attempt leads back to the card.
  expect(await page(location)).toContain("<h1>Pay €59.50</h1>");
  expect((await sendForm(location, { outcome: "complete" })).location).toBe(url);

  await sendForm(url, fields);
  expect((await sendForm(location, { outcome: "complete" })).location).toContain("https://example.com/paid");
  const paid = await stripe.client.checkout.sessions.retrieve(id, { expand: ["payment_intent"] });
  expect(paid).toMatchObject({ status: "complete", payment_intent: { status: "succeeded" } });
});

it("shows that a checkout has expired, and accepts no card then", async () => {
  const stripe = await startStripe();
  const { id, url } = await openCheckout(stripe);
  stripe.clock.now += 86_400_000;
  expect((await sendForm(url, card)).location).toBe(url);
  const html = await page(url);
  expect(html).toContain("<h1>This checkout has expired</h1>");
  expect(html).toContain('<a href="https://example.com/cancelled">Return</a>');
  expect((await stripe.client.checkout.sessions.retrieve(id)).payment_status).toBe("unpaid");
  const unknown = await fetch(`${stripe.server.url}/checkout/cs_test_0`);
  expect(unknown.status).toBe(404);
});

it("is reached under the name of this machine only, and not by forms of foreign pages", async () => {
  const stripe = await startStripe();
  const { url } = await openCheckout(stripe);
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  request(url, { headers: { host: "example.com" } }, ({ statusCode }) => resolve(statusCode)).end();
  expect(await promise).toBe(403);
  for (const address of [url, `${stripe.server.url}/dashboard`, `${stripe.server.url}/v1/refunds`]) {
    const form = {
      method: "POST",
      body: "action=refund&id=pi_1",
      headers: { Origin: "https://example.com" },
    };
    expect((await fetch(address, form)).status, address).toBe(403);
  }
});

it("the dashboard refunds payments and decides disputes", async () => {
  const stripe = await startStripe();
  const dashboard = `${stripe.server.url}/dashboard`;
  expect(await page(dashboard)).toContain("There are no payments.");
  const disputed = await openCheckout(stripe);
  await sendForm(disputed.url, { ...card, number: "4000000000000259" });
  stripe.clock.now += 2_000;
  const paid = await openCheckout(stripe);
  await sendForm(paid.url, card);

  const ofPayment = /name="id" value="(pi_\w+)"/.exec(await page(dashboard))?.[1] ?? "";
  expect((await sendForm(dashboard, { action: "refund", id: ofPayment })).location).toBe(dashboard);
  expect(await page(dashboard)).toContain("succeeded, refunded €59.50");
  const again = await sendForm(dashboard, { action: "refund", id: ofPayment });
  expect(again.html).toMatch(/role="alert">Only 0 of the charge ch_\w+ can be refunded/);

  const ofDispute = /name="id" value="(dp_\w+)"/.exec(await page(dashboard))?.[1] ?? "";
  expect((await sendForm(dashboard, { action: "lost", id: ofDispute })).location).toBe(dashboard);
  const html = await page(dashboard);
  expect(html).toContain("dispute: lost");
  expect(html).not.toContain("<button");
  expect((await stripe.client.disputes.retrieve(ofDispute)).status).toBe("lost");
});

it("a restart keeps cards, payments, keys of requests, and the addresses of checkouts", async () => {
  const dataFolder = await newFolder();
  const before = await startStripe({ dataFolder });
  const saved = await saveCard(before, card.number);
  const { url } = await openCheckout(before);
  const options = { idempotencyKey: "customer-1" };
  const { id } = await before.client.customers.create({}, options);
  await before.server.stop();

  const after = await startStripe({ dataFolder });
  expect((await after.client.customers.create({}, options)).id).toBe(id);
  const charge = { amount: 500, currency: "usd", confirm: true, off_session: true, ...saved };
  expect((await after.client.paymentIntents.create(charge)).status).toBe("succeeded");
  expect((await sendForm(url, card)).location).toContain("https://example.com/paid");
  // A second one on the same data gets another port.
  const second = await startStripe({ dataFolder });
  expect(second.server.url).not.toBe(after.server.url);
});
