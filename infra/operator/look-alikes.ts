import {
  protectedNames,
  resemblanceOf,
  resemblanceOfProtected,
  type Resemblance,
} from "../../shared/messages/sender-ids/look-alikes.ts";
import { isNumeric } from "../../shared/messages/sender-ids/names.ts";
import { readSenderIds } from "../../shared/messages/sender-ids/record.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/records.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { flag } from "./command.ts";
import type { Context } from "./context.ts";
import { organizationBatches } from "./organization.ts";

/** Whether an operator approves a sender ID although it resembles another. */
export const AllowLookAlikes = flag(
  "--allow-look-alikes",
  "approve it although it resembles another organization's sender ID or a well-known name",
);

/** The number of organizations that are compared. The command reports if there are more. */
const maxOrganizations = 100_000;

const maxShown = 20;

interface LookAlike {
  readonly senderId: string;
  readonly resemblance: Resemblance;
  /** Absent for a well-known name. */
  readonly organizationId?: string;
  readonly organizationName?: string;
}

/**
 * Shows which sender IDs of other organizations and which well-known names a sender ID resembles. The same sender ID in
 * another case is not a look-alike: `--shared` decides about it.
 * @param most the number of organizations to compare
 * @throws {@link RejectedError} for a look-alike that was not accepted, or if not all organizations were compared
 */
export async function guardAgainstLookAlikes(
  asked: { readonly organizationId: string; readonly senderId: string; readonly areAccepted: boolean },
  context: Pick<Context, "output">,
  most = maxOrganizations,
): Promise<void> {
  const { output } = context;
  const { senderId, areAccepted } = asked;
  // All numbers resemble others, so they are not compared.
  if (isNumeric(senderId)) return;
  const { found, isWhole } = await findLookAlikes(asked, context, most);
  if (found.length === 0 && isWhole) return;
  output.table(found.slice(0, maxShown), {
    "SENDER ID": "senderId",
    RESEMBLANCE: "resemblance",
    ORGANIZATION: (each) => each.organizationId ?? "(well-known name)",
    NAME: "organizationName",
  });
  const others = found.length === 1 ? "1 name" : `${found.length} names`;
  const shown = found.length > maxShown ? `; the first ${maxShown} are shown` : "";
  const summary = [
    ...(found.length === 0 ? [] : [`${senderId} resembles ${others}${shown}.`]),
    ...(isWhole ? [] : [`Only the first ${most} organizations were compared.`]),
  ].join(" ");
  if (!areAccepted) {
    throw new RejectedError(`Nothing was changed: ${summary} Use --allow-look-alikes to approve it.`);
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
  let compared = 0;
  for await (const ids of organizationBatches()) {
    if (compared >= most) return { found, isWhole: false };
    const others = ids.filter((each) => each !== organizationId);
    const ofOthers = await Promise.all(others.map(async (each) => lookAlikesOf(each, senderId)));
    found.push(...ofOthers.flat());
    compared += ids.length;
    output.progress(`sender IDs of ${compared} organizations compared`);
  }
  return { found, isWhole: true };
}

/** The approved sender IDs of another organization that resemble one. */
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
