import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import type { LiftedOptOut, OptOut } from "../../api/contract/opt-outs.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { updateOf, type Write } from "../../platform/table/write.ts";
import { checkPhoneNumber } from "../destinations/impossible-numbers.ts";
import { findOptOut, inForce, OptOutRecord, readStanding, replaceWishes, type Standing } from "./record.ts";
import { hasSentStop, lastWord, optOutOf, type OwnNote, type PersonsWord, type Wishes } from "./standing.ts";

/**
 * Opts a number out for an organization, also on the contact that has the number. An existing note stays as it is.
 * @throws ApiError VALIDATION_ERROR as `checkPhoneNumber`; UNAVAILABLE when too many other changes came in between
 */
export async function optOut(
  organizationId: string,
  phoneNumber: string,
  source: OwnNote["source"],
): Promise<OptOut> {
  checkPhoneNumber(phoneNumber);
  const note = { source, createdAt: now().toISOString() };
  const wishes = await changeWishes(organizationId, phoneNumber, ({ said, noted = note }) => ({
    said,
    noted,
  }));
  return optOutOf(phoneNumber, wishes) ?? { phoneNumber, ...note };
}

/**
 * Records a person's STOP or START. It counts unless the person sent a later one, whenever and however often it
 * arrives. START lifts an opt-out by STOP, but not the organization's own note.
 * @throws ApiError UNAVAILABLE when too many other changes came in between
 */
export async function recordWord(
  organizationId: string,
  phoneNumber: string,
  heard: PersonsWord,
): Promise<void> {
  await changeWishes(organizationId, phoneNumber, (known) => ({
    ...known,
    said: lastWord(known.said, heard),
  }));
}

/**
 * Lifts all opt-outs of a number for the operator, even a person's STOP. It lifts the STOP that was read. A later STOP
 * counts when it arrives, whatever the operator's clock shows.
 * @returns the opt-out that was lifted; undefined when none is in force
 * @throws ApiError UNAVAILABLE when too many other changes came in between
 */
export async function liftForOperator(
  organizationId: string,
  phoneNumber: string,
): Promise<OptOut | undefined> {
  let lifted: OptOut | undefined;
  await changeWishes(organizationId, phoneNumber, (known) => {
    lifted = optOutOf(phoneNumber, known);
    const { said } = known;
    return { said: said?.word === "stop" ? { word: "start", saidAt: justAfter(said.saidAt) } : said };
  });
  return lifted;
}

function justAfter(moment: string): string {
  return new Date(Date.parse(moment) + 1).toISOString();
}

/** Changes a number's wishes, and notes the result on the contact that has the number. @returns the new wishes */
async function changeWishes(
  organizationId: string,
  phoneNumber: string,
  decide: (known: Wishes) => Wishes,
): Promise<Wishes> {
  return untilUndisturbed(async () => {
    const standing = await readStanding(organizationId, phoneNumber);
    const next = decide(standing.wishes);
    const writes = replaceWishes(organizationId, phoneNumber, { seen: standing.record, next });
    // Without a condition on the record the contact must not be written, because it may have been read after the next
    // change.
    if (writes.length === 0) return next;
    const isOptedOut = optOutOf(phoneNumber, next) !== undefined;
    const written = await transact({
      optOut: writes,
      contact: noteOnContact(organizationId, standing, isOptedOut),
    });
    return written.outcome === "committed" ? next : undefined;
  });
}

/** Returns the write that notes the opt-out on a contact. It is rejected when the contact's number has changed. */
function noteOnContact(organizationId: string, { contact }: Standing, optedOut: boolean): Write[] {
  if (contact === undefined || contact.optedOut === optedOut) return [];
  const { id, phoneNumber } = contact;
  const set = { optedOut, updatedAt: now().toISOString() };
  return [updateOf(keys.contact(organizationId, id), { set }, { is: { phoneNumber } })];
}

/** Reads the opt-out of a number. @throws ApiError NOT_FOUND when it has not opted out */
export async function getOptOut(organizationId: string, phoneNumber: string): Promise<OptOut> {
  return orNotFound(await findOptOut(organizationId, phoneNumber));
}

/**
 * Lifts an opt-out that the organization has noted itself.
 * @throws ApiError NOT_FOUND when there is none; OPT_OUT_BY_REPLY when the person sent STOP; UNAVAILABLE when too many
 *   other changes came in between
 */
export async function deleteOptOut(organizationId: string, phoneNumber: string): Promise<LiftedOptOut> {
  await changeWishes(organizationId, phoneNumber, (known) => {
    if (optOutOf(phoneNumber, known) === undefined) throw new ApiError("NOT_FOUND");
    return withoutNote(known);
  });
  return { phoneNumber, deleted: true };
}

/**
 * Returns wishes without the organization's own note.
 * @throws ApiError OPT_OUT_BY_REPLY when the person's last word was STOP
 */
export function withoutNote(known: Wishes): Wishes {
  if (hasSentStop(known)) throw new ApiError("OPT_OUT_BY_REPLY");
  return { said: known.said };
}

/** Returns a page of the numbers that have opted out, sorted by number. */
export async function listOptOuts(organizationId: string, query: PageQuery): Promise<Page<OptOut>> {
  const { pk } = keys.optOut(organizationId, "");
  const isInForce = (record: OptOutRecord): boolean => inForce(record) !== undefined;
  const page = await readWantedPage(OptOutRecord, { pk, consistent: true }, query, isInForce);
  return { rows: page.rows.flatMap((record) => inForce(record) ?? []), meta: page.meta };
}
