import type { InboundMessage } from "../contract/inbound.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { epochSeconds, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { readWantedPage } from "../platform/table/page.ts";
import { inboundIds, InboundRecord, toApiInboundMessage } from "./record.ts";

/** Returns a page of an organization's inbound messages, newest first, within their retention. */
export async function listInbound(organizationId: string, query: PageQuery): Promise<Page<InboundMessage>> {
  const at = epochSeconds(now());
  const page = await readWantedPage(
    InboundRecord,
    { pk: keys.inbound(organizationId, "").pk, ...inboundIds, newestFirst: true, consistent: true },
    query,
    // DynamoDB deletes expired items days later.
    ({ expiresAt = Infinity }) => expiresAt > at,
  );
  return { rows: page.rows.map(toApiInboundMessage), meta: page.meta };
}
