import { expect, it } from "vitest";
import * as z from "zod/mini";

import { findPasswordHash, movePassword, replacePassword } from "../../shared/accounts/password-record.ts";
import type { UserRecord } from "../../shared/accounts/user-record.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, putItem, transact } from "../../shared/platform/table/table.ts";

/** A user as release 0.2 wrote them, with their hash beside all else. */
async function userOfLastRelease(): Promise<UserRecord> {
  const id = newId("usr");
  const user: UserRecord = {
    entity: "user",
    id,
    organizationId: newId("org"),
    email: `${id}@example.com`,
    passwordHash: "the old hash",
    createdAt: "2026-01-01T00:00:00.000Z",
  };
  await putItem({ put: { ...keys.user(id), ...user } });
  return user;
}

async function storedUser({ id }: UserRecord): Promise<unknown> {
  return findItem(z.looseObject({}), keys.user(id), { consistent: true });
}

it("a hash of the last release counts where it is, and where it was moved to", async () => {
  const user = await userOfLastRelease();
  expect(await findPasswordHash(user)).toBe("the old hash");
  await Promise.all([movePassword(user), movePassword(user)]);
  expect(await storedUser(user)).not.toHaveProperty("passwordHash");
  const { passwordHash: _, ...moved } = user;
  expect(await findPasswordHash(moved)).toBe("the old hash");
});

it("a password that was replaced is not brought back by a log-in that had read the one before", async () => {
  const user = await userOfLastRelease();
  const sessionsValidFrom = "2026-02-01T00:00:00.000Z";
  const replaced = await transact(replacePassword(user.id, "the new hash", { set: { sessionsValidFrom } }));
  expect(replaced.outcome).toBe("committed");
  await movePassword(user);
  expect(await storedUser(user)).toMatchObject({ sessionsValidFrom });
  expect(await storedUser(user)).not.toHaveProperty("passwordHash");
  expect(await findPasswordHash(user)).toBe("the new hash");
});

it("nobody gets a password who is gone", async () => {
  const userId = newId("usr");
  expect(await transact(replacePassword(userId, "a hash", {}))).toMatchObject({ outcome: "refused" });
  expect(await findItem(z.looseObject({}), keys.password(userId), { consistent: true })).toBeUndefined();
  expect(await findPasswordHash(undefined)).toBeUndefined();
});
