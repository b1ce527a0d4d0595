import * as z from "zod/mini";

import { findNumber } from "../../shared/messages/numbers/record.ts";
import { findPayment, transferReference } from "../../shared/money/payments/record.ts";
import { findWallet } from "../../shared/money/wallet/record.ts";
import { findReference } from "../../shared/money/wallet/reference.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/records.ts";
import { allApiKeys } from "../../shared/tenancy/api-keys/record.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { readRights } from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser, findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { command, limit, personal, RequiredText } from "./command.ts";
import { searchOrganizations } from "./organization.ts";
import { columns, readRow } from "./organizations-list.ts";

/** An organization, and the word for its match. */
type Match = readonly [organizationId: string, foundBy: string];

/** `organizations find` */
export const findOrganizations = command({
  name: "organizations find",
  summary: "Find organizations by what a caller has",
  details:
    "One read finds an email, an ID, an assigned number, the reference of a movement, or the provider's ID of a payment. " +
    "Otherwise up to 100,000 organizations are searched, with at most three reads for each. This finds the ID of a payment, the " +
    "reference of a bank transfer, and a part of the name or of an owner's email. It also finds an API key by the first characters " +
    "that lists show.",
  examples: ["ada@example.com --stage prod", "nn_0N9e", "'ada shop' --json"],
  discloses: true,
  input: z.object({
    text: personal("<text>", "email, ID, number, reference, key, or part of a name or email", RequiredText),
    limit: limit(50, 1_000, "organizations"),
  }),
  run: async ({ text, limit: wanted }, { output, changed }) => {
    const byKey = await findByKey(text);
    const isByKey = byKey.length > 0;
    const isEnough = (matches: readonly Match[]): boolean => matches.length > wanted;
    const all = isByKey
      ? { found: byKey, searched: 0, isWhole: true }
      : await searchOrganizations(async (id) => matchesOf(id, text), output, { isEnough });
    const rows = [];
    for (const [id, foundBy] of all.found.slice(0, wanted)) rows.push({ ...(await readRow(id)), foundBy });
    changed({ organizations: rows.map(({ id }) => id) });
    output.table(rows, { ...columns, "FOUND BY": "foundBy" });
    const more = isEnough(all.found) ? ", and there are more" : "";
    output.note(
      `${rows.length} found${more}; ${isByKey ? "by its key" : `${all.searched} organizations searched`}`,
    );
    if (!all.isWhole && more === "")
      output.aside(`Warning: only the first ${all.searched} organizations were searched.`);
  },
});

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

/** Returns the match of an organization with a text. Each kind of text costs one read. */
async function matchesOf(id: string, text: string): Promise<Match[]> {
  const find = async (): Promise<[isFound: boolean, foundBy: string]> => {
    if (text === transferReference(id)) return [true, "reference"];
    if (text.startsWith("pay_")) {
      return [(await findPayment({ organizationId: id, paymentId: text })) !== undefined, "payment"];
    }
    if (text.startsWith("nn_")) {
      return [(await allApiKeys(id)).some(({ hint }) => text.startsWith(hint.slice(0, -1))), "API key"];
    }
    const wanted = text.toLowerCase();
    const { name = "" } = (await findOrganization(id)) ?? {};
    if (name.toLowerCase().includes(wanted)) return [true, "name"];
    const { ownerIds } = await readRights(id);
    const owners = await Promise.all(ownerIds.map(async (ownerId) => findUser(ownerId)));
    return [owners.some((owner) => owner?.email.includes(wanted) === true), "email of an owner"];
  };
  const [isFound, foundBy] = (await find().catch(undefinedIfUnreadable)) ?? [false, ""];
  return isFound ? [[id, foundBy]] : [];
}
