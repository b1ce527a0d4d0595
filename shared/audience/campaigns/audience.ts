import { ApiError } from "../../api/contract/errors.ts";
import { keys } from "../../platform/table/keys.ts";
import { rowsOf } from "../../platform/table/lists.ts";
import { unreadableOf } from "../../platform/table/records.ts";
import { contactIds as allIds, ContactRecord, findContact } from "../contacts/record.ts";
import type { CampaignRecord } from "./record.ts";

/** The contacts that are read with one request. */
const contactsAtOnce = 1_000;

/** The most contacts that are read. Beyond it the campaign is launched, and its counts show what it reached. */
const maxRead = 25_000;

/** @throws ApiError NO_RECIPIENTS if no contact is in the audience of a campaign now */
export async function requireRecipients({ organizationId, audience }: CampaignRecord): Promise<void> {
  const { contactIds, tags } = audience;
  for (const id of contactIds ?? []) {
    if ((await findContact(organizationId, id).catch(unreadableOf)) !== undefined) return;
  }
  if (contactIds !== undefined) throw new ApiError("NO_RECIPIENTS");
  const list = { pk: keys.contact(organizationId, "").pk, ...allIds, consistent: true };
  let read = 0;
  for await (const { item } of rowsOf(ContactRecord, list, tags === undefined ? 1 : contactsAtOnce)) {
    read += 1;
    // An unreadable contact may have the tag: the run of the campaign reports it.
    if (item === undefined || hasAnyTag(item, tags) || read === maxRead) return;
  }
  throw new ApiError("NO_RECIPIENTS");
}

/** Whether a contact has one of the tags of an audience. An audience without tags is all contacts. */
export function hasAnyTag(contact: ContactRecord, tags: readonly string[] | undefined): boolean {
  return tags === undefined || tags.some((tag) => contact.tags.includes(tag));
}
