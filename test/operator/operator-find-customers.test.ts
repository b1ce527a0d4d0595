import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { connectionsFile } from "../../infra/local/connections.ts";
import { searchOrganizations } from "../../infra/operator/organization.ts";
import { Output } from "../../infra/operator/output.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { transferReference } from "../../shared/money/payments/record.ts";
import { config } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { captured, jsonOf, operator, outputOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

/*
 * The searches for organizations and sender IDs, on a gateway with the organizations of this file only.
 */

const operated = useOperatedGateway();
let [ada, bob]: Customer[] = [];
beforeAll(async () => {
  ada = await operated.register({ balance: 1 });
  bob = await operated.register();
  await operated.register();
});

const Found = z.looseObject({ id: z.string(), email: z.nullable(z.string()), foundBy: z.string() });
const find = async (text: string) =>
  (await jsonOf(`organizations find '${text}'`, Found)).map(({ id, foundBy }) => [id, foundBy]);

function customers(): readonly [Customer, Customer] {
  if (ada === undefined || bob === undefined) throw new Error("the customers register before the first test");
  return [ada, bob];
}

it("an organization is found with one read by its email, ID, number, or a reference", async () => {
  const [one, two] = customers();
  await outputOf(`numbers assign +12025550100 ${one.email} --carrier aws`);
  await outputOf(`numbers assign 90909 ${one.email} --keyword pizza --carrier aws`);
  await outputOf(`numbers assign 90909 ${two.email} --keyword pasta --carrier aws`);
  await outputOf(`wallets credit ${two.email} 5 --reason gift --reference invoice-117`);
  expect(await find(one.email.toUpperCase())).toEqual([[one.organizationId, "email"]]);
  expect(await find(two.organizationId)).toEqual([[two.organizationId, "ID"]]);
  expect(await find("+12025550100")).toEqual([[one.organizationId, "number"]]);
  expect(await find("12025550100")).toEqual([[one.organizationId, "number"]]);
  const byKeywords = [one, two].map(({ organizationId }) => [organizationId, "number"]);
  expect(new Set(await find("90909"))).toEqual(new Set(byKeywords));
  expect(await find("invoice-117")).toEqual([[two.organizationId, "reference"]]);

  const shown = await outputOf("organizations find invoice-117");
  expect(shown).toMatch(/^ID +EMAIL +NAME +STATUS +BALANCE +LAST SEND +FOUND BY\n/);
  expect(shown).toMatch(
    new RegExp(`\n${two.organizationId} +${two.email} .* reference\n1 found; by its key\n$`),
  );
});

it("other organizations are searched by a payment, a transfer, an API key, or a part of their name", async () => {
  const [one, two] = customers();
  const payment = await two.client.createPayment({ body: { amount: 10 } });
  expect(await find(payment.id)).toEqual([[two.organizationId, "payment"]]);
  expect(await find(transferReference(one.organizationId))).toEqual([[one.organizationId, "reference"]]);
  const { hint, secret } = await two.client.createApiKey({ body: {} });
  for (const text of [hint, hint.slice(0, -1), secret]) {
    expect(await find(text)).toEqual([[two.organizationId, "API key"]]);
  }
  expect(await find(hint.slice(0, -2))).toEqual([]);
  const set = { name: "Ada's Wool Shop" };
  await updateItem(z.unknown(), updateOf(keys.organization(one.organizationId), { set }));
  expect(await find("wool SHOP")).toEqual([[one.organizationId, "name"]]);
  expect(await find(one.email.slice(0, 20))).toEqual([[one.organizationId, "email of an owner"]]);
  expect(await find("no such shop")).toEqual([]);
  expect(await outputOf("organizations find 'no such shop'")).toBe("0 found; 3 organizations searched\n");
  expect(await outputOf("organizations find example --limit 1")).toContain(
    "1 found, and there are more; 3 org",
  );
  await captured(async () => {
    const found = await searchOrganizations(async (id) => [id], new Output(false), { most: 0 });
    expect(found).toEqual({ found: [], searched: 0, isWhole: false });
  });
});

it("an erased organization is found by its ID", async () => {
  const { organizationId } = await operated.register();
  await deleteItem(keys.organization(organizationId));
  expect(await jsonOf(`organizations find ${organizationId}`, Found)).toMatchObject([
    { id: organizationId, status: "erased", foundBy: "ID" },
  ]);
});

it("a sender ID is found with its requests in all states, and with similar ones", async () => {
  const [one, two] = customers();
  const Row = z.looseObject({ senderId: z.string(), organizationId: z.optional(z.string()) });
  const request = async ({ client, email }: Customer, senderId: string) => {
    const { id } = await client.createSenderId({ body: { senderId } });
    return {
      approve: `sender-ids approve ${email} ${id}`,
      reject: `sender-ids reject ${email} ${id} --reason x`,
    };
  };
  await outputOf((await request(one, "HarborBank")).approve);
  await request(two, "HARBORBANK");
  await outputOf((await request(two, "HarborBenk")).reject);
  const found = await jsonOf("sender-ids find harborbank", Row);
  expect(found).toMatchObject([
    {
      senderId: "HarborBank",
      resemblance: "same name",
      status: "approved",
      organizationId: one.organizationId,
    },
    { senderId: "HARBORBANK", resemblance: "same name", status: "pending", organizationName: two.email },
    { senderId: "HarborBenk", resemblance: "differs in one character", status: "rejected" },
  ]);
  const text = await outputOf("sender-ids find harborbank");
  expect(text).toMatch(
    new RegExp(`^harborbank is approved for ${one.organizationId}\\.\nSENDER ID +RESEMBLANCE `),
  );
  expect(text).toMatch(/\n2 with this name, 3 in all\n$/);
  expect(await outputOf("sender-ids find Paypa1")).toMatch(
    /approved for no organization\.\n.*\nPAYPAL .*\n0 with/s,
  );
  expect(await jsonOf("sender-ids find 123456", Row)).toEqual([]);

  const approved = await jsonOf("sender-ids list --approved", Row);
  expect(approved.map(({ senderId }) => senderId)).toEqual(["HarborBank"]);
  expect(await outputOf("sender-ids list --approved")).toMatch(/\n1 approved\n$/);
  expect((await jsonOf("sender-ids list", Row)).map(({ senderId }) => senderId)).toEqual(["HARBORBANK"]);
  expect((await operator("sender-ids find")).code).toBe(2);
});

it("the commands have the stage whose rules the local gateway has", async () => {
  const file = path.join(operated.dataFolder, connectionsFile);
  const connections = await readFile(file, "utf8");
  const own = { name: outputNames.stageName, value: "local" };
  expect(JSON.parse(connections)).toMatchObject({ outputs: expect.arrayContaining([own]) });
  await writeFile(
    file,
    connections.replace(JSON.stringify(own), JSON.stringify({ ...own, value: "strict" })),
  );
  await outputOf("version");
  expect(config.stage()).toBe("strict");
  await writeFile(file, connections);
  await outputOf("version");
  expect(config.stage()).toBe("local");
});
