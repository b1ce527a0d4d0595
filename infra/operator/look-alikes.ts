import * as z from "zod/mini";

import { findOrganization } from "../../shared/accounts/organization-record.ts";
import { Refusal } from "../../shared/platform/refusal.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/table.ts";
import {
  protectedNames,
  resemblanceOf,
  resemblanceOfProtected,
  type Resemblance,
} from "../../shared/sender-ids/look-alikes.ts";
import { isNumeric } from "../../shared/sender-ids/names.ts";
import { readSenderIds } from "../../shared/sender-ids/record.ts";
import { listWallets } from "../../shared/wallet/record.ts";
import { batches } from "./batches.ts";
import { part } from "./command.ts";
import type { Context } from "./context.ts";
import type { Column } from "./output.ts";

/** Whether an operator approves a sender ID although it resembles another. */
export const AllowLookAlikes = part(
  "--allow-look-alikes",
  "also if it resembles a sender ID of another organisation, or a well-known name",
  z._default(z.boolean(), false),
);

/** Organizations whose sender IDs are read at once. */
const readAtOnce = 25;

/** A stage with more organizations is not read to its end, which is said. */
const maxOrganizations = 100_000;

/** More look-alikes are counted and not shown. */
const maxShown = 20;

interface LookAlike {
  readonly senderId: string;
  readonly resemblance: Resemblance;
  /** Absent for a well-known name. */
  readonly organizationId?: string;
  readonly organizationName?: string;
}

/**
 * Shows what a sender ID resembles: sender IDs approved for other organizations, and well-known names. The same sender ID
 * in another case is not among them: `--shared` decides about that.
 * @param most organizations that are read
 * @throws Refusal when there is anything that was not accepted, or not all organizations were read
 */
export async function guardAgainstLookAlikes(
  asked: { readonly organizationId: string; readonly senderId: string; readonly areAccepted: boolean },
  context: Pick<Context, "output">,
  most = maxOrganizations,
): Promise<void> {
  const { output } = context;
  const { senderId, areAccepted } = asked;
  // Numbers are never approved by their name: all of them resemble others.
  if (isNumeric(senderId)) return;
  const { found, isWhole } = await findLookAlikes(asked, context, most);
  if (found.length === 0 && isWhole) return;
  output.table(found.slice(0, maxShown), columns);
  const others = found.length === 1 ? "1 name" : `${found.length} names`;
  const shown = found.length > maxShown ? `; the first ${maxShown} are shown` : "";
  const summary = [
    ...(found.length === 0 ? [] : [`${senderId} resembles ${others}${shown}.`]),
    ...(isWhole ? [] : [`Only the first ${most} organisations were compared.`]),
  ].join(" ");
  if (!areAccepted) {
    throw new Refusal(`Nothing was changed: ${summary} --allow-look-alikes approves it.`);
  }
  output.aside(`Warning: ${summary}`);
}

async function findLookAlikes(
  { organizationId, senderId }: { readonly organizationId: string; readonly senderId: string },
  { output }: Pick<Context, "output">,
  most: number,
): Promise<{ readonly found: readonly LookAlike[]; readonly isWhole: boolean }> {
  const found = protectedNames.flatMap((each): LookAlike[] => {
    const resemblance = resemblanceOfProtected(senderId, each);
    return resemblance === undefined ? [] : [{ senderId: each, resemblance }];
  });
  let read = 0;
  for await (const ids of batches(listWallets(), readAtOnce)) {
    if (read >= most) return { found, isWhole: false };
    const others = ids.filter((each) => each !== organizationId);
    const ofOthers = await Promise.all(others.map(async (each) => lookAlikesOf(each, senderId)));
    found.push(...ofOthers.flat());
    read += ids.length;
    output.progress(`sender IDs of ${read} organisations compared`);
  }
  return { found, isWhole: true };
}

/** The approved sender IDs of another organization that one resembles. */
async function lookAlikesOf(organizationId: string, senderId: string): Promise<LookAlike[]> {
  const records = await readSenderIds(organizationId);
  const found = records.flatMap(({ senderId: other, status }): LookAlike[] => {
    const isOther = status === "approved" && other.toUpperCase() !== senderId.toUpperCase();
    const resemblance = isOther ? resemblanceOf(senderId, other) : undefined;
    return resemblance === undefined ? [] : [{ senderId: other, resemblance, organizationId }];
  });
  if (found.length === 0) return [];
  const organization = await findOrganization(organizationId).catch(undefinedIfUnreadable);
  return found.map((each) => ({ ...each, organizationName: organization?.name ?? "" }));
}

const columns: readonly Column<LookAlike>[] = [
  { heading: "SENDER ID", text: ({ senderId }) => senderId },
  { heading: "RESEMBLANCE", text: ({ resemblance }) => resemblance },
  { heading: "ORGANISATION", text: ({ organizationId = "a well-known name" }) => organizationId },
  { heading: "NAME", text: ({ organizationName = "" }) => organizationName },
];
