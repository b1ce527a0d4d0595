import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { readCampaign } from "../../shared/audience/campaigns/record.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { createContact, updateContact } from "../../shared/audience/contacts/contacts.ts";
import { importContacts } from "../../shared/audience/contacts/import.ts";
import { optOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { acceptMessage, createCampaign } from "../support/as-organization.ts";
import { allowToSend, strictPolicies } from "../support/policies.ts";

/*
 * A stage that sends to some countries, and there to mobile numbers only.
 */

const message = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;

let organizationId: string;
beforeAll(async () => {
  ({ organizationId } = await customerThatMaySend());
});
beforeEach(() => {
  for (const [name, value] of Object.entries(strictPolicies("US"))) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

async function customerThatMaySend(): Promise<Customer> {
  const customer = await Customer.register({ balance: 1 });
  await allowToSend(customer.organizationId, "ACME");
  return customer;
}

/** Numbers that a stage rejects for no reason but its countries and number types. */
const countries = ["AU", "DE", "FR", "GB", "IN", "US"];

it.each([
  ["a German premium number", "49900123456"],
  ["a German number for mass calls", "491371234567"],
  ["a German number of shared cost", "491801234567"],
  ["a French premium number", "33899123456"],
  ["a French number of shared cost", "33810123456"],
  ["an Australian premium number", "611901234567"],
  ["a premium number without its last digit", "61190123456"],
  ["an Australian number of shared cost", "611300123456"],
  ["a free Australian number", "611800123456"],
  ["an Australian satellite", "61147123456"],
  ["a free Indian number", "9118001234567"],
  ["an American exchange that takes money", "12029765000"],
  ["an American premium number", "19005550100"],
  ["a fixed line", "442071838750"],
  ["a number that its regulator does not assign", "447700900123"],
  ["an area code that is not assigned", "15551234567"],
])("a stage that sends to mobile numbers sends nothing to %s", async (_name, to) => {
  for (const [name, value] of Object.entries(strictPolicies(...countries))) vi.stubEnv(name, value);
  const rejected = acceptMessage(organizationId, { ...message, to });
  await expect(rejected).rejects.toMatchObject({ code: "DESTINATION_NOT_ALLOWED" });
});

it.each(["6114712345678", "12025559", "120255501001234", "9991234567"])(
  "a stage with one policy for numbers neither stores %s, which no phone can have, nor sends to it, nor opts it out",
  async (to) => {
    const customer = await customerThatMaySend();
    ({ organizationId } = customer);
    vi.stubEnv("ALLOWED_COUNTRIES", "any");
    vi.stubEnv("ALLOWED_NUMBER_TYPES", "any");
    expect((await acceptMessage(organizationId, { ...message, to })).status).toBe("queued");
    vi.stubEnv("ALLOWED_COUNTRIES", "AU US");
    const rejected = acceptMessage(organizationId, { ...message, to });
    const reason = expect.stringMatching(
      /^This (cannot be a phone number: .* after it|begins with no country .*)\.$/,
    );
    await expect(rejected).rejects.toMatchObject({ code: "DESTINATION_NOT_ALLOWED", message: reason });
    const details = [{ path: "phoneNumber", message: expect.stringMatching(/^(cannot be|begins with)/) }];
    const contact = { phoneNumber: to, tags: [], attributes: {}, optedOut: false };
    await expect(createContact(organizationId, contact)).rejects.toMatchObject({ details });
    const imported = await importContacts(organizationId, {
      onDuplicate: "skip",
      columns: [],
      dryRun: false,
      contacts: [contact],
    });
    expect(imported.results).toEqual([{ index: 0, status: "invalid", details }]);
    await expect(optOut(organizationId, to, "api")).rejects.toMatchObject({ details });
    await expect(findOptOut(organizationId, to)).resolves.toBeUndefined();
    const { id } = await customer.client.createContact({ body: { phoneNumber: "447400123456" } });
    await updateItem(z.unknown(), updateOf(keys.contact(organizationId, id), { set: { phoneNumber: to } }));
    await expect(updateContact(organizationId, id, { phoneNumber: to })).rejects.toMatchObject({ details });
    expect((await customer.client.getContact({ params: { id } })).phoneNumber).toBe(to);
    const campaign = await createCampaign(organizationId, {
      name: "Spring",
      message: "hello",
      audience: { contactIds: [id] },
      senderId: "ACME",
      language: "English",
      messageType: "marketing",
      scheduledAt: new Date(Date.now() + hourMs).toISOString(),
    });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs + minuteMs });
    await runCampaign({ organizationId, campaignId: campaign.id });
    expect(await readCampaign(organizationId, campaign.id)).toMatchObject({
      accepted: 0,
      skippedDestinationNotAllowed: 1,
    });
  },
);

it.each(["4915112345678", "33612345678", "61412345678", "919812345678", "447400123456", "12125550100"])(
  "a stage that sends to mobile numbers sends to %s",
  async (to) => {
    for (const [name, value] of Object.entries(strictPolicies(...countries))) vi.stubEnv(name, value);
    expect(await acceptMessage(organizationId, { ...message, to })).toMatchObject({ status: "queued" });
  },
);

it("the error for a number states the reason", async () => {
  const rejectionOf = async (to: string): Promise<unknown> =>
    acceptMessage(organizationId, { ...message, to }).catch((error: unknown) => error);
  expect(await rejectionOf("19005550100")).toMatchObject({
    message: "This gateway sends only to numbers of the type mobile; this one is of the type premium.",
  });
  expect(await rejectionOf("12115550100")).toMatchObject({
    message: "No messages are sent to numbers of no country from here.",
  });
  expect(await rejectionOf("447400123456")).toMatchObject({
    message: "No messages are sent to numbers of GB from here.",
  });
});

it("the sandbox's special numbers pass only if it is the carrier of the stage", async () => {
  for (const [name, value] of Object.entries(strictPolicies("GB"))) vi.stubEnv(name, value);
  const accept = async (to: string) => acceptMessage(organizationId, { ...message, to });
  for (let last = 0; last <= 10; last += 1) {
    expect((await accept(String(15_005_550_000 + last))).status).toBe("queued");
  }
  const rejected = { code: "DESTINATION_NOT_ALLOWED" };
  await expect(accept("15005550011")).rejects.toMatchObject(rejected);
  vi.stubEnv("CARRIER", "aws");
  await expect(accept(message.to)).rejects.toMatchObject(rejected);
});
