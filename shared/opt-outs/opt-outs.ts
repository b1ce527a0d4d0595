import { ApiError } from "../contract/errors.ts";
import type { LiftedOptOut, OptOut, OptOutSource } from "../contract/opt-outs.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { readWantedPage } from "../platform/table/page.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import {
  forgetOptOut,
  OptOutRecord,
  presentOptOut,
  readStanding,
  recordOptOut,
  type Standing,
} from "./record.ts";

/**
 * Notes that a number has opted out, and that the contact has which has the number. One that has opted out already stays
 * as it is.
 * @throws ApiError UNAVAILABLE when too many other changes came in between
 */
export async function optOut(
  organizationId: string,
  phoneNumber: string,
  source: OptOutSource,
): Promise<OptOut> {
  return untilUndisturbed(async () => {
    const standing = await readStanding(organizationId, phoneNumber);
    const isNoted = standing.isRecorded && standing.contact?.optedOut !== false;
    if (standing.optOut !== undefined && isNoted) return presentOptOut(standing.optOut);
    const optedOut = standing.optOut ?? { phoneNumber, source };
    const written = await transact([
      recordOptOut(organizationId, optedOut),
      ...noteOnContact(organizationId, standing, true),
    ]);
    if (written.outcome === "refused") return undefined;
    const { optOut: noted } = await readStanding(organizationId, phoneNumber);
    return noted && presentOptOut(noted);
  });
}

/** How the opt-out of a number is lifted. */
interface Lifting {
  /** Whether it is the person who says so, who lifts only what a reply of theirs has set. */
  readonly byReply?: boolean;
}

/**
 * Lifts the opt-out of a number, and that of the contact which has it.
 * @returns whether there was one that could be lifted so
 * @throws ApiError UNAVAILABLE when too many other changes came in between
 */
export async function liftOptOut(
  organizationId: string,
  phoneNumber: string,
  { byReply = false }: Lifting = {},
): Promise<boolean> {
  return untilUndisturbed(async () => {
    const standing = await readStanding(organizationId, phoneNumber);
    if (standing.optOut === undefined) return false;
    if (byReply && standing.optOut.source !== "reply") return false;
    const written = await transact([
      forgetOptOut(organizationId, phoneNumber),
      ...noteOnContact(organizationId, standing, false),
    ]);
    return written.outcome === "committed" ? true : undefined;
  });
}

/** The write that notes on a contact how its number stands; it is refused when the contact has got another one. */
function noteOnContact(organizationId: string, { contact }: Standing, optedOut: boolean): Write[] {
  if (contact === undefined || contact.optedOut === optedOut) return [];
  const { id, phoneNumber } = contact;
  const set = { optedOut, updatedAt: now().toISOString() };
  return [updateOf(keys.contact(organizationId, id), { set }, { is: { phoneNumber } })];
}

/**
 * The opt-out of a number.
 * @throws ApiError NOT_FOUND when it has not opted out
 */
export async function getOptOut(organizationId: string, phoneNumber: string): Promise<OptOut> {
  const { optOut: found } = await readStanding(organizationId, phoneNumber);
  if (found === undefined) throw new ApiError("NOT_FOUND");
  return presentOptOut(found);
}

/**
 * Lifts the opt-out of a number, whoever has set it.
 * @throws ApiError NOT_FOUND when it has not opted out; UNAVAILABLE when too many other changes came in between
 */
export async function deleteOptOut(organizationId: string, phoneNumber: string): Promise<LiftedOptOut> {
  if (!(await liftOptOut(organizationId, phoneNumber))) throw new ApiError("NOT_FOUND");
  return { phoneNumber, deleted: true };
}

/** A page of the numbers that have opted out, in their order. */
export async function listOptOuts(organizationId: string, query: PageQuery): Promise<Page<OptOut>> {
  const { pk } = keys.optOut(organizationId, "");
  const page = await readWantedPage(OptOutRecord, { pk, consistent: true }, query, () => true);
  return { rows: page.rows.map(presentOptOut), meta: page.meta };
}
