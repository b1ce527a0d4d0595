import type { AssignedNumber } from "../contract/inbound.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { pageOf } from "../platform/table/page.ts";
import { listNumbers } from "./record.ts";

/** A page of the numbers whose messages an organization gets, with the keyword of those that it shares. */
export async function listNumbersOf(organizationId: string, query: PageQuery): Promise<Page<AssignedNumber>> {
  const assigned = (await listNumbers()).flatMap(({ number, organizationId: owner, keywords }) => [
    ...(owner === organizationId ? [{ number }] : []),
    ...Object.entries(keywords).flatMap(([keyword, each]) =>
      each === organizationId ? [{ number, keyword }] : [],
    ),
  ]);
  return pageOf(assigned, query);
}
