import { expect, it } from "vitest";

import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { insertOf, type Put } from "../../shared/platform/table/write.ts";

function put(name: string, by: string): Put {
  return insertOf(keys.email(name), { entity: "email", userId: by });
}

it("reports rejections by the names of the writes, in whatever order they are", async () => {
  await transact({ puts: [put("taken", "first"), put("taken too", "first")] });

  const second = await transact({
    free: put("free", "second"),
    several: [put("free too", "second"), put("taken", "second")],
    none: [],
    last: put("taken too", "second"),
  });

  const { pk: several } = keys.email("taken");
  const { pk: last } = keys.email("taken too");
  expect(second).toMatchObject({
    outcome: "rejected",
    rejections: { several: { found: { pk: several } }, last: { found: { pk: last } } },
  });
  expect(second).not.toHaveProperty("rejections.free");
  await expect(transact({ put: put("free", "third") })).resolves.toEqual({ outcome: "committed" });
});
