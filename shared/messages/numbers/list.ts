import type { AssignedNumber } from "../../api/contract/inbound.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import { pageOf } from "../../platform/table/page.ts";
import { listNumbers } from "./record.ts";

/** Returns a page of the numbers that are assigned to an organization, with its keywords for shared numbers. */
export async function listNumbersOf(organizationId: string, query: PageQuery): Promise<Page<AssignedNumber>> {
  const assigned = (await listNumbers()).flatMap(({ number, organizationId: owner, keywords }) => [
    ...(owner === organizationId ? [{ number }] : []),
    ...Object.entries(keywords).flatMap(([keyword, each]) =>
      each === organizationId ? [{ number, keyword }] : [],
    ),
  ]);
  return pageOf(assigned, query);
}
