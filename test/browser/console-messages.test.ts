import { expect, vi } from "vitest";

import { call, Customer } from "../support/api.ts";
import { faultsOn } from "../support/browser.ts";
import { it } from "../support/console.ts";
import { patience } from "../support/patience.ts";

it("finds messages by the name of a contact, sender, key and shown status, and returns to the filtered list", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const { secret } = await customer.client.createApiKey({ body: { name: "Shop" } });
  const body = { phoneNumber: "15005550007", firstName: "Ada", lastName: "Lovelace" };
  await customer.client.createContact({ body });
  const json = { to: "15005550007", message: "hello", senderId: "HARBOUR" };
  await call("/v1/sms/send", { credential: secret, json });
  await customer.send();
  await vi.waitFor(async () => {
    const { rows } = await customer.client.listSms({ query: { displayStatus: "delivered" } });
    expect(rows).toHaveLength(1);
  }, patience);
  const visitor = await arriveAs(customer, "messages", "Messages");
  const { page } = visitor;
  const filter = async (): Promise<void> => page.getByRole("button", { name: "Filter" }).click();
  await page.getByLabel("Status").selectOption("delivered");
  await page.getByLabel("API key").selectOption("Shop");
  await page.getByLabel("Sender").fill("harbour");
  await filter();
  await page.getByText("No messages match").waitFor();
  await page.getByLabel("Sender").fill("HARBOUR");
  await page.getByLabel("Number or text").fill("lovelace");
  await filter();
  const named = page.getByRole("list", { name: "Contacts with this name" });
  await named.getByText("Ada Lovelace, +1 500 555 0007").waitFor();
  await named.getByRole("link", { name: "show messages" }).click();
  await page.getByRole("link", { name: "+1 500 555 0007" }).click();
  await visitor.heading("Message to +1 500 555 0007");
  await page.getByRole("link", { name: "Messages" }).last().click();
  await vi.waitFor(
    async () => expect(await page.getByLabel("Status").inputValue()).toBe("delivered"),
    patience,
  );
  expect(await page.getByLabel("Sender").inputValue()).toBe("HARBOUR");
  expect(await page.getByLabel("Number or text").inputValue()).toBe("15005550007");
  await page.getByRole("link", { name: "+1 500 555 0007" }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  expect(await visitor.violations()).toEqual([]);
});

it("shows all sent messages of a campaign, until a person chooses another status", async ({ arriveAs }) => {
  const customer = await Customer.register({ balance: 1 });
  const to = ["15005550007", "15005550000", "15005550001"];
  await Promise.all(to.map(async (number) => customer.send({ to: number })));
  await vi.waitFor(async () => {
    const { rows } = await customer.client.listSms({ query: {} });
    expect(rows.map(({ status }) => status).toSorted()).toEqual(["failed", "sent", "sent"]);
  }, patience);
  const { page } = await arriveAs(customer, "messages?state=sent", "Messages");
  await page.getByRole("link", { name: "+1 500 555 0007" }).waitFor();
  expect(await page.getByRole("row").count()).toBe(3);
  await page.getByLabel("Status").selectOption("failed");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "+1 500 555 0001" }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
});

it("states how far back a search went that found too little", async ({ arriveAs }) => {
  const visitor = await arriveAs(await Customer.register(), "messages", "Messages");
  const meta = {
    limit: 25,
    total: 0,
    totalPages: 0,
    nextCursor: "bXNn",
    searchedBackTo: "2026-03-01T09:30:00.000Z",
  };
  await visitor.page.route("**/v1/sms?**", async (route) => route.fulfill({ json: { data: [], meta } }));
  await visitor.page.getByLabel("Number or text").fill("hello");
  await visitor.page.getByRole("button", { name: "Filter" }).click();
  await visitor.page.getByText("Searched back to").waitFor();
  expect(await visitor.page.locator("time").getAttribute("datetime")).toBe(meta.searchedBackTo);
});

it("shows the rule of the recipient's country for the sender, and the countries with rules beside a request", async ({
  arriveAs,
}) => {
  const customer = await Customer.register({ balance: 1 });
  const visitor = await arriveAs(customer, "send", "Send a message");
  const { page } = visitor;
  const noLetters = page.getByText("Networks in the United States accept no letters as the sender.");
  await page.getByLabel("From").fill("HARBOUR");
  await visitor.fillMessage("12125550100", "hello");
  await noLetters.waitFor();
  await page.getByLabel("From").fill("442079460999");
  await noLetters.waitFor({ state: "detached" });
  await page.getByText("Balance: ").waitFor();
  expect(await noLetters.count()).toBe(0);

  await visitor.open("sender-ids", "Sender IDs");
  await page.getByRole("button", { name: "Request sender ID" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/No names are accepted in Argentina, Canada, .*United States\./).waitFor();
  await dialog.getByText(/A registration is required in Australia, .*United Kingdom/).waitFor();
  expect(await faultsOn(page, "sender-rules")).toEqual([]);
});
