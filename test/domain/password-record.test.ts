import { expect, it } from "vitest";
import * as z from "zod/mini";

import { findPasswordHash, replacePassword } from "../../shared/accounts/passwords/record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { transact } from "../../shared/platform/table/transact.ts";

it("a deleted user gets no password", async () => {
  const userId = newId("usr");
  expect(await transact({ password: replacePassword(userId, "a hash", {}) })).toMatchObject({
    outcome: "rejected",
  });
  expect(await findItem(z.looseObject({}), keys.password(userId), { consistent: true })).toBeUndefined();
  expect(await findPasswordHash(undefined)).toBeUndefined();
});
