import type { InboundMessage } from "../contract/inbound.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { epochSeconds, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { readWantedPage } from "../platform/table/page.ts";
import { inboundIds, InboundRecord, presentInbound } from "./record.ts";

/** A page of the messages that have come to an organization's numbers, newest first, as long as they are kept. */
export async function listInbound(organizationId: string, query: PageQuery): Promise<Page<InboundMessage>> {
  const at = epochSeconds(now());
  const page = await readWantedPage(
    InboundRecord,
    { pk: keys.inbound(organizationId, "").pk, ...inboundIds, newestFirst: true, consistent: true },
    query,
    // DynamoDB deletes expired items days later.
    ({ expiresAt = Infinity }) => expiresAt > at,
  );
  return { rows: page.rows.map(presentInbound), meta: page.meta };
}
