import { expect } from "vitest";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import { ending, message, Organizations, outputOf, rowsOf } from "./stage-commands.ts";

/** The customer of the stage `kept`. */
export const account = { email: "kept@example.com", password: "correct horse" };

/** The API keys of a customer, without the scope `personal`, which the last release does not have. */
async function apiKeysOf(client: Client): Promise<object> {
  const { rows } = await client.listApiKeys();
  return rows.map((key) => ({ ...key, scopes: key.scopes?.filter((scope) => scope !== "personal") }));
}

/** The data of a customer, as the API shows it. */
export async function everythingOf(client: Client): Promise<object> {
  return Promise.all([
    client.getMe(),
    client.getWallet(),
    client.listTransactions(),
    client.listSms(),
    apiKeysOf(client),
    client.listWebhooks(),
    client.listContacts(),
    client.listTemplates(),
    client.listCampaigns(),
    client.listSenderIds(),
    client.getKyc(),
  ]);
}

/** Lets the customer log in and send, and verifies their wallet. */
export async function expectToWork(customer: Client): Promise<void> {
  const baseUrl = await outputOf("kept", outputNames.apiUrl);
  const { user } = await createClient({ baseUrl }).login({ body: account });
  expect(user.email).toBe(account.email);
  const { id } = await customer.sendSms({ body: { ...message, to: "15005550000" } });
  await ending(customer, id, "sent");
  const [audit] = await rowsOf(Organizations, "kept", "wallets", "verify", account.email);
  expect(audit?.findings).toEqual([]);
}

/** Returns the outputs that no update changes: the address, the table and the keys. */
export async function lastingOutputs(): Promise<string[]> {
  const { apiUrl, tableName, webhookKeyArn, secondFactorKeyArn } = outputNames;
  const lasting = [apiUrl, tableName, webhookKeyArn, secondFactorKeyArn];
  return Promise.all(lasting.map(async (name) => outputOf("kept", name)));
}
