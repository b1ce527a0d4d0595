import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";

import { bundleForBrowser } from "../../infra/build/browser-bundle.ts";
import { pages } from "../../infra/operator/desk/pages.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { paymentPut } from "../../shared/money/payments/record.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { faultsOn, it as withBrowser, watch } from "../support/browser.ts";
import { deskOf } from "../support/desk.ts";
import { outputOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const { register, fileOf } = useOperatedGateway();
let customer: Customer;
let messageId: string;
let paymentId: string;
let files: ReadonlyMap<string, string>;

beforeAll(async () => {
  files = new Map(await bundleForBrowser(["desk/app.tsx", "desk/main.css"]));
  await outputOf("version");
  customer = await register({ balance: 20 });
  ({ id: messageId } = await customer.send({ to: "15005550000" }));
  await customer.call("/v1/kyc", {
    json: { businessName: "Ada's Shop 2026-99-99T9Z", country: "GB", registrationNumber: "7" },
  });
  await customer.call("/v1/sender-ids", { json: { senderId: "ADASHOP", useCase: "Orders" } });
  const settings = await fileOf({ kind: "sandbox" });
  await outputOf(`carriers set sandbox --settings ${settings}`);
  await outputOf("destinations block 22177 --reason 'Ticket 31'");
  const billing = { organizationId: customer.organizationId, rechargedMicros: 0, rechargeFailures: 0 };
  const payment = newPayment({
    organizationId: customer.organizationId,
    billing,
    method: "card",
    origin: "checkout",
    amountMicros: 50_000_000,
  });
  paymentId = payment.id;
  const dispute = {
    id: "dp_1",
    status: "open",
    reason: "fraudulent",
    dueAt: "2026-12-09T00:00:00.000Z",
    totalMicros: 60_000_000,
    amountMicros: 50_000_000,
    feeMicros: 15_000_000,
    openedAt: payment.createdAt,
  } as const;
  await putItem(
    paymentPut({ ...payment, status: "succeeded", providerPaymentId: "pi_1", disputes: [dispute] }),
  );
});

/** A page of a new desk. The test fails if it had an error, such as a breach of its security policy. */
const it = withBrowser.extend("page", async ({ browser }, { onCleanup }) => {
  const context = await browser.newContext({
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const { complaints, requested } = watch(page);
  const link = await deskOf({ files });
  await page.goto(link);
  await page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
  onCleanup(async () => {
    const { origin } = new URL(link);
    await context.close();
    // The browser complains about each error response, which the pages show.
    const errors = complaints.filter((each) => !each.startsWith("Failed to load resource"));
    const foreign = requested.filter((each) => !each.includes(origin));
    if (errors.length + foreign.length > 0) throw new Error([...errors, ...foreign].join("; "));
  });
  return page;
});

async function open(page: Page, address: string, title: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${address}`)}`);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.locator("p[role=status] progress").first().waitFor({ state: "detached" });
}

it("each page shows the output of its commands, and axe finds no faults", async ({ page }) => {
  const faults: string[] = [];
  const ids: Record<string, string> = {
    customers: customer.organizationId,
    messages: messageId,
    payments: paymentId,
  };
  for (const { path, title } of pages) {
    const [first = ""] = path.split("/");
    await open(
      page,
      path === "search" ? "search?text=15005550000" : path.replace(":id", ids[first] ?? ""),
      title,
    );
    expect(await page.getByRole("alert").allInnerTexts(), path).toEqual([]);
    faults.push(...(await faultsOn(page, `desk-${path.replace("/:", "-") || "today"}`, [1280])));
  }
  expect(faults).toEqual([]);
});

/** Fills in the text that the question of a dialog wants, and confirms it. */
async function confirm(page: Page, typed: string): Promise<void> {
  await page.getByText(`Type ${typed} to continue`).waitFor();
  await page.getByLabel("Confirmation").fill(typed);
  await page.getByRole("button", { name: "Confirm" }).click();
}

it("approves a submission from the reviews, after the question with its facts", async ({ page }) => {
  const { organizationId } = customer;
  await open(page, "reviews", "Reviews");
  await page.getByRole("button", { name: /^Actions for .*Ada's Shop/ }).click();
  await page.getByRole("menuitem", { name: "Approve KYC" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText(/approve this submission:\n.*\nSubmission +kyc_/).waitFor();
  await dialog.getByLabel("Confirmation").fill("yes");
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await dialog.getByText(`Must be ${organizationId}.`).first().waitFor();
  expect(await faultsOn(page, "desk-question", [1280])).toEqual([]);
  await confirm(page, organizationId);
  await dialog.getByText("is approved").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText("0 pending").waitFor();
  expect((await customer.call("/v1/kyc")).body).toMatchObject({ data: { status: "approved" } });
});

it("suspends a customer that the search finds, and shows what is wrong with the input", async ({ page }) => {
  const { organizationId } = customer;
  await open(page, "search", "Search");
  await page.getByRole("searchbox").fill(customer.email);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("link", { name: organizationId }).or(page.getByTitle(organizationId)).first().click();
  await page.getByRole("button", { name: "Actions for Customer" }).click();
  await page.getByRole("menuitem", { name: "Suspend organization" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("Is missing.").first().waitFor();
  await dialog.getByLabel("Reason").fill("Ticket 4711");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText(`suspend ${customer.email} (${organizationId}): Ticket 4711`).waitFor();
  await confirm(page, organizationId);
  await dialog.getByText(/is suspended since .* \(Ticket 4711\)/).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText(/^suspended since .* \(Ticket 4711\)$/).waitFor();
  expect(await outputOf(`organizations show ${organizationId}`)).toMatch(/^State +suspended since/m);
});

it("a link that was used explains how to get another one", async ({ browser }) => {
  const link = await deskOf({ files });
  const opened = async (heading: string): Promise<Page> => {
    const page = await browser.newPage();
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    return page;
  };
  await (await opened("Today")).close();
  const page = await opened("The desk is closed");
  expect(await page.getByRole("main").innerText()).toContain("This link was used already");
  expect(await faultsOn(page, "desk-closed", [1280])).toEqual([]);
  await page.close();
});
