import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { dayMs, epochSeconds, now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { RejectedError } from "../platform/rejected-error.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../platform/table/read.ts";
import { insertOf, putItem, updateItem, updateOf } from "../platform/table/write.ts";

/*
 * Movements of money above an amount, which a second operator approves. The reference in the input makes the movement happen
 * once, however often it is executed.
 */

/** How long a proposal can be approved. */
const patienceMs = 7 * dayMs;

export const ApprovalRecord = z.object({
  entity: z.literal("approval"),
  id: z.string(),
  /** The name of the command, and its input as it was typed, with the organization's ID and a reference. */
  command: z.string(),
  input: z.record(z.string(), z.unknown()),
  what: z.string(),
  organizationId: z.string(),
  amountMicros: z.int(),
  proposedBy: z.string(),
  proposedAt: z.string(),
  /** The second operator, since when the movement may have been made. See `withdraw`. */
  approvedBy: z.optional(z.string()),
  /** The approvals of which each may make the movement, or has. Release 0.4.0 notes none. */
  attempts: z.optional(z.set(z.string())),
  /** Set after the movement. */
  doneAt: z.optional(z.string()),
  rejectedBy: z.optional(z.string()),
  expiresAt: z.int(),
});
export type Approval = z.infer<typeof ApprovalRecord>;

/** Stores a proposal. Nothing is moved. */
export async function propose(
  proposal: Pick<Approval, "amountMicros" | "command" | "input" | "organizationId" | "proposedBy" | "what">,
): Promise<Approval> {
  const at = now();
  const expiresAt = epochSeconds(new Date(at.getTime() + patienceMs));
  const id = newId("apr");
  const record = { entity: "approval", id, proposedAt: at.toISOString(), expiresAt, ...proposal } as const;
  await putItem(insertOf(keys.approval(id), record), { isOwn: (found) => found["id"] === id });
  return record;
}

/** Returns the proposals that neither a rejection nor the movement has ended, oldest first. */
export async function openApprovals(): Promise<Approval[]> {
  const { pk } = keys.approval("");
  const rows = await queryRows(ApprovalRecord, { pk, limit: 10_000, consistent: true });
  return itemsOf(rows).filter((each) => isOpen(each) && each.doneAt === undefined);
}

/**
 * Reads a proposal for a second operator.
 * @throws RejectedError when it is over, or is their own
 */
export async function readApproval(id: string, identity: string): Promise<Approval> {
  const found = await findItem(ApprovalRecord, keys.approval(id), { consistent: true });
  if (found === undefined || !isOpen(found)) throw new RejectedError(`There is no open proposal ${id}.`);
  if (personOf(found.proposedBy) === personOf(identity))
    throw new RejectedError(`${identity} made this proposal: another person decides on it.`);
  return found;
}

/**
 * Notes who approves, before the movement. It can be repeated after a crash.
 * @returns the attempt, for `withdraw`
 * @throws RejectedError after a rejection, and after the proposal has expired
 */
export async function approve(id: string, approvedBy: string): Promise<string> {
  const attempt = randomUUID();
  const key = keys.approval(id);
  const mayBeMade = { absent: ["rejectedBy"], above: { expiresAt: epochSeconds(now()) } } as const;
  const note = (...attempts: string[]) => ({ set: { approvedBy }, add: { attempts: new Set(attempts) } });
  const areNoted = { anyOf: [{ absent: ["approvedBy"] }, { present: ["attempts"] }] } as const;
  const noted = await updateItem(ApprovalRecord, updateOf(key, note(attempt), { ...mayBeMade, ...areNoted }));
  // An attempt of release 0.4.0, which noted none, may have made the movement.
  if (!noted.applied) await applied(id, updateOf(key, note(attempt, "0.4.0"), mayBeMade));
  return attempt;
}

/**
 * Ends an attempt whose movement was certainly rejected. Without any other attempt, which may still make the movement, the
 * proposal can be rejected again.
 */
export async function withdraw(id: string, attempt: string): Promise<void> {
  const key = keys.approval(id);
  const attempts = new Set([attempt]);
  const ended = updateOf(key, { take: { attempts } }, { contains: { attempts: attempt } });
  if ((await updateItem(ApprovalRecord, ended)).applied)
    await updateItem(ApprovalRecord, updateOf(key, { remove: ["approvedBy"] }, { absent: ["attempts"] }));
}

/** Notes that the movement was made. */
export async function finish(id: string): Promise<void> {
  await applied(
    id,
    updateOf(keys.approval(id), { set: { doneAt: now().toISOString() } }, { present: ["pk"] }),
  );
}

/** Ends a proposal without the movement. @throws RejectedError when it was approved, because the movement may have been made */
export async function reject(id: string, rejectedBy: string): Promise<void> {
  const rejected = updateOf(
    keys.approval(id),
    { set: { rejectedBy } },
    { present: ["pk"], absent: ["approvedBy"] },
  );
  await applied(id, rejected);
}

async function applied(id: string, update: ReturnType<typeof updateOf<"approval">>): Promise<void> {
  const { applied: isApplied } = await updateItem(ApprovalRecord, update);
  if (!isApplied) throw new RejectedError(`Someone else has decided on ${id}, or it has expired.`);
}

/** Returns the person of an ARN: their sessions of several roles have the same account and name. */
function personOf(identity: string): string {
  return identity.replace(/^(arn:[^:]+:sts::\d+:assumed-role)\/[^/]+\//, "$1/");
}

function isOpen({ rejectedBy, expiresAt }: Approval): boolean {
  return rejectedBy === undefined && expiresAt > epochSeconds(now());
}
