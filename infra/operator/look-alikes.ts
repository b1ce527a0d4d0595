import * as z from "zod/mini";

import {
  protectedNames,
  resemblanceOf,
  resemblanceOfProtected,
  type Resemblance,
} from "../../shared/messages/sender-ids/look-alikes.ts";
import { findHolders, isNumeric } from "../../shared/messages/sender-ids/names.ts";
import { readSenderIds, type SenderIdRecord } from "../../shared/messages/sender-ids/record.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/records.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { command, flag, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { searchOrganizations } from "./organization.ts";
import type { Columns } from "./output.ts";

/** Whether an operator approves a sender ID although it resembles another. */
export const AllowLookAlikes = flag(
  "--allow-look-alikes",
  "approve it although it resembles another organization's sender ID or a well-known name",
);

const maxShown = 20;

interface LookAlike {
  readonly senderId: string;
  readonly resemblance: Resemblance | "same name";
  /** Absent for a well-known name. */
  readonly organizationId?: string;
  readonly organizationName?: string;
  readonly status?: SenderIdRecord["status"];
}

/**
 * Shows which sender IDs of other organizations and which well-known names a sender ID resembles. The same sender ID in
 * another case is not a look-alike: `--shared` decides about it.
 * @throws {@link RejectedError} for a look-alike that was not accepted
 */
export async function guardAgainstLookAlikes(
  asked: { readonly organizationId: string; readonly senderId: string; readonly areAccepted: boolean },
  { output }: Pick<Context, "output">,
): Promise<void> {
  const { organizationId, senderId, areAccepted } = asked;
  // All numbers resemble others, so they are not compared.
  if (isNumeric(senderId)) return;
  const isWanted = (other: SenderIdRecord): boolean =>
    other.organizationId !== organizationId && other.status === "approved" && !isSame(other, senderId);
  const found = await findLookAlikes(senderId, isWanted, output);
  if (found.length === 0) return;
  output.table(found.slice(0, maxShown), columns);
  const others = found.length === 1 ? "1 name" : `${found.length} names`;
  const shown = found.length > maxShown ? `; the first ${maxShown} are shown` : "";
  const summary = `${senderId} resembles ${others}${shown}.`;
  if (!areAccepted) {
    throw new RejectedError(`Nothing was changed: ${summary} Use --allow-look-alikes to approve it.`);
  }
  output.aside(`Warning: ${summary}`);
}

const columns: Columns<LookAlike> = {
  "SENDER ID": "senderId",
  RESEMBLANCE: "resemblance",
  ORGANIZATION: (each) => each.organizationId ?? "(well-known name)",
  NAME: "organizationName",
};

/** `sender-ids find` */
export const findSenderId = command({
  name: "sender-ids find",
  summary: "Find the organizations that have or requested a sender ID, and those with a similar one",
  details:
    "Upper and lower case are the same. Compares the sender IDs of all organizations, with one read unit for each.",
  examples: ["ADASHOP --stage prod", "'Ada Shop' --json"],
  discloses: true,
  input: z.object({ name: part("<name>", "sender ID", RequiredText) }),
  run: async ({ name }, { output }) => {
    // One read shows who has the name, before the others are compared.
    const holders = [...(await findHolders(name))];
    output.note(`${name} is approved for ${holders.join(", ") || "no organization"}.`);
    const isWanted = (other: SenderIdRecord): boolean => !isNumeric(name) || isSame(other, name);
    const found = await findLookAlikes(name, isWanted, output);
    const isExact = ({ resemblance }: LookAlike): boolean => resemblance === "same name";
    const rows = [...found.filter(isExact), ...found.filter((each) => !isExact(each))];
    output.table(rows, { ...columns, STATUS: "status" });
    output.note(`${rows.filter(isExact).length} with this name, ${rows.length} in all`);
  },
});

function isSame(record: SenderIdRecord, senderId: string): boolean {
  return record.senderId.toUpperCase() === senderId.toUpperCase();
}

/** Compares all organizations: with a limit, a large stage could only approve without the check. */
async function findLookAlikes(
  senderId: string,
  isWanted: (record: SenderIdRecord) => boolean,
  output: Context["output"],
): Promise<readonly LookAlike[]> {
  const wellKnown = protectedNames.flatMap((each): LookAlike[] => {
    const resemblance = resemblanceOfProtected(senderId, each);
    return resemblance === undefined ? [] : [{ senderId: each, resemblance }];
  });
  const search = async (id: string): Promise<LookAlike[]> => lookAlikesOf(id, senderId, isWanted);
  const { found } = await searchOrganizations(search, output, { most: Infinity });
  return [...wellKnown, ...found];
}

/** The wanted sender IDs of an organization that resemble one. */
async function lookAlikesOf(
  organizationId: string,
  senderId: string,
  isWanted: (record: SenderIdRecord) => boolean,
): Promise<LookAlike[]> {
  const records = (await readSenderIds(organizationId)).filter(isWanted);
  const found = records.flatMap((other): LookAlike[] => {
    const resemblance = isSame(other, senderId) ? "same name" : resemblanceOf(senderId, other.senderId);
    return resemblance === undefined ? [] : [{ ...other, resemblance }];
  });
  if (found.length === 0) return [];
  const organization = await findOrganization(organizationId).catch(undefinedIfUnreadable);
  return found.map((each) => ({ ...each, organizationName: organization?.name ?? "" }));
}
