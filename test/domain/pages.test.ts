import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { readWantedPage } from "../../shared/platform/table/page.ts";
import { putItem, putUnchecked } from "../../shared/platform/table/write.ts";

/*
 * A list with a filter, which a call searches only in part. Its items are opt-outs with numbers of one digit at the end.
 */

const Item = z.object({ digit: z.number() });
const digits = [0, 1, 2, 3, 4, 5];
const organizationId = newId("org");
const { pk } = keys.optOut(organizationId, "");

beforeAll(async () => {
  for (const digit of digits) {
    const fields = { entity: "optOut", digit } as const;
    await putItem(putUnchecked(keys.optOut(organizationId, `44770090012${digit}`), fields));
  }
});

async function read(query: { cursor?: string }, most?: number) {
  const page = await readWantedPage(
    Item,
    { pk, consistent: true },
    { page: 1, limit: 2, ...query },
    () => true,
    {
      ...(most !== undefined && { most }),
    },
  );
  return { ...page, rows: page.rows.map(({ digit }) => digit) };
}

it("a total of the whole list is not marked as partial", async () => {
  const { rows, meta } = await read({});
  expect([rows, meta.total, meta.totalPages, meta.isPartial]).toEqual([[0, 1], 6, 3, undefined]);
});

it("a total of the searched rows is marked as partial, and the cursor leads to all rows", async () => {
  const first = await read({}, 3);
  expect([first.rows, first.meta.total, first.meta.isPartial]).toEqual([[0, 1], 3, true]);
  const rows = [...first.rows];
  for (let { nextCursor } = first.meta; nextCursor !== undefined;) {
    const next = await read({ cursor: nextCursor });
    rows.push(...next.rows);
    // It does not count the pages before.
    expect(next.meta.isPartial).toBe(true);
    ({ nextCursor } = next.meta);
  }
  expect(rows).toEqual(digits);
});
