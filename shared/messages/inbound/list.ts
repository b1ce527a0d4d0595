import type { InboundMessage, InboundQuery } from "../../api/contract/inbound.ts";
import type { Page } from "../../api/contract/primitives.ts";
import type { Viewer } from "../../platform/auth/actor.ts";
import { keys } from "../../platform/table/keys.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { hasExpired } from "../message/record.ts";
import { inboundIds, InboundRecord, toApiInboundMessage } from "./record.ts";

/** Returns a page of an organization's inbound messages, newest first, within their retention. */
export async function listInbound(
  { organizationId, isTest }: Viewer,
  query: InboundQuery,
): Promise<Page<InboundMessage>> {
  const pk =
    isTest || query.test === true ? keys.testInbound(organizationId) : keys.inbound(organizationId, "").pk;
  const page = await readWantedPage(
    InboundRecord,
    { pk, ...inboundIds, newestFirst: true, consistent: true },
    query,
    (record) => !hasExpired(record),
  );
  return { rows: page.rows.map(toApiInboundMessage), meta: page.meta };
}
