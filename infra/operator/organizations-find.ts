import * as z from "zod/mini";

import { findNumber } from "../../shared/messages/numbers/record.ts";
import { findPayment, transferReference } from "../../shared/money/payments/record.ts";
import { findWallet } from "../../shared/money/wallet/record.ts";
import { findReference } from "../../shared/money/wallet/reference.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/records.ts";
import { allApiKeys } from "../../shared/tenancy/api-keys/record.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { command, limit, personal, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { organizationBatches } from "./organization.ts";
import { columns, readRow } from "./organizations-list.ts";

const maxSearched = 100_000;

/** An organization, and the word for its match. */
type Match = readonly [organizationId: string, foundBy: string];

/** `organizations find` */
export const findOrganizations = command({
  name: "organizations find",
  summary: "Find organizations by what a caller has",
  details:
    "One read finds an email, an ID, an assigned number, the reference of a movement, or the provider's ID of a payment. " +
    "Otherwise up to 100,000 organizations are searched, with one read for each. This finds the ID of a payment, the reference of " +
    "a bank transfer, and a part of the name. It also finds an API key by the first characters that lists show.",
  examples: [
    "ada@example.com --stage prod",
    "15005550100",
    "nn_0N9e",
    "pay_01M7Y6EJCCCYF8FQN69JCEXBCE",
    "'ada shop' --json",
  ],
  input: z.object({
    text: personal(
      "<text>",
      "email, ID, number, reference, start of an API key, or part of a name",
      RequiredText,
    ),
    limit: limit(50, 1_000, "organizations"),
  }),
  run: async ({ text, limit: wanted }, { output }) => {
    const byKey = await findByKey(text);
    const search = byKey.length > 0 ? undefined : await searchAll(text, wanted, output);
    const found = search?.found ?? byKey;
    const rows: (Awaited<ReturnType<typeof readRow>> & { foundBy: string })[] = [];
    for (const [id, foundBy] of found.slice(0, wanted)) rows.push({ ...(await readRow(id)), foundBy });
    output.table(rows, { ...columns, "FOUND BY": "foundBy" });
    const more = found.length > wanted ? ", and there are more" : "";
    const extent = search === undefined ? "by its key" : `${search.searched} organizations searched`;
    output.note(`${rows.length} found${more}; ${extent}`);
    if (search?.isWhole === false) {
      output.aside(`Warning: only the first ${search.searched} organizations were searched.`);
    }
  },
});

/** Searches the organizations, up to a number, until more than the wanted ones are found. */
export async function searchAll(
  text: string,
  wanted: number,
  output: Context["output"],
  most = maxSearched,
): Promise<{ readonly found: readonly Match[]; readonly searched: number; readonly isWhole: boolean }> {
  const found: Match[] = [];
  let searched = 0;
  for await (const ids of organizationBatches()) {
    if (found.length > wanted) break;
    if (searched >= most) return { found, searched, isWhole: false };
    const matches = await Promise.all(
      ids.map(async (id) => {
        const foundBy = await matchOf(id, text).catch(undefinedIfUnreadable);
        return foundBy === undefined ? [] : [[id, foundBy] as const];
      }),
    );
    found.push(...matches.flat());
    searched += ids.length;
    output.progress(`${searched} organizations searched, ${found.length} found`);
  }
  return { found, searched, isWhole: true };
}

/** Finds organizations by the keys of items. */
async function findByKey(text: string): Promise<Match[]> {
  const [user, wallet, number, reference] = await Promise.all([
    text.includes("@") ? findUserByEmail(text.toLowerCase()) : undefined,
    text.startsWith("org_") ? findWallet(text) : undefined,
    /^\+?\d+$/.test(text) ? findNumber(text.replace("+", "")) : undefined,
    findReference(text),
  ]);
  const owners = [number?.organizationId ?? [], Object.values(number?.keywords ?? {})].flat();
  return [
    ...(user === undefined ? [] : [[user.organizationId, "email"] as const]),
    ...(wallet === undefined ? [] : [[wallet.organizationId, "ID"] as const]),
    ...[...new Set(owners)].map((id) => [id, "number"] as const),
    ...(reference === undefined ? [] : [[reference.organizationId, "reference"] as const]),
  ];
}

/** Returns the word for what an organization and a text have in common. Each kind of text costs one read. */
async function matchOf(organizationId: string, text: string): Promise<string | undefined> {
  if (text === transferReference(organizationId)) return "reference";
  if (text.startsWith("pay_")) {
    return (await findPayment({ organizationId, paymentId: text })) === undefined ? undefined : "payment";
  }
  if (text.startsWith("nn_")) {
    const apiKeys = await allApiKeys(organizationId);
    return apiKeys.some(({ hint }) => text.startsWith(hint.slice(0, -1))) ? "API key" : undefined;
  }
  const name = (await findOrganization(organizationId))?.name;
  return name?.toLowerCase().includes(text.toLowerCase()) === true ? "name" : undefined;
}
