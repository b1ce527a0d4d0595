import { beforeEach, describe, expect, it, vi } from "vitest";

import { UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { getVerification } from "../../shared/verifications/list.ts";
import { advance } from "../support/clock.ts";
import { takeJobs } from "../support/queues.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import {
  checkFor,
  codeIn,
  completeLater,
  initialMicros,
  priceMicros,
  sentTexts,
  setFee,
  spentBy,
  startFor,
} from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

const feeMicros = 50_000;
const notPending = { code: "VERIFICATION_NOT_PENDING" };
let start = new Date("2036-06-01T12:00:00Z");

let organizationId: string;
let id: string;
let code: string;

beforeEach(async () => {
  start = new Date(start.getTime() + hourMs);
  vi.setSystemTime(start);
  await setFee(feeMicros);
  organizationId = await openOrganization(initialMicros);
  ({ id } = await startFor(organizationId));
  code = codeIn((await sentTexts())[0]);
});

async function check(typed: string, key?: string) {
  return checkFor(organizationId, { id, code: typed }, key);
}

/** Checks the right code in a function that dies after some writes. */
async function dieAfter(writes: number): Promise<void> {
  let left = writes;
  interceptTableRequests(async (command, send) => {
    const result = await send();
    if (command instanceof UpdateCommand) left -= 1;
    if (left <= 0) throw new Error("the function has ended");
    return result;
  });
  await check(code, "attempt").catch(() => undefined);
  vi.restoreAllMocks();
}

describe("a check with an Idempotency-Key that is repeated", () => {
  it.each([1, 2, 3, 4, 5])("gets the approval although the function died after write %i", async (writes) => {
    await openWebhook("http://127.0.0.1:9/nobody", organizationId);
    await check("wrong", "before");
    await dieAfter(writes);
    const approved = { id, status: "approved", valid: true, checksLeft: 3 };
    for (const _ of [1, 2]) expect(await check(code, "attempt")).toEqual(approved);
    await completeLater();
    const events = (await takeJobs("webhookDeliveries")).map((job) => Object(job).event.event);
    expect(new Set(events)).toEqual(new Set(["verification.approved"]));
    expect(await spentBy(organizationId)).toBe(priceMicros + feeMicros);
  });

  it("is approved for one caller only, until the code expires, and without further guesses", async () => {
    expect(await check(code, "attempt")).toMatchObject({ valid: true });
    await expect(check(code)).rejects.toMatchObject(notPending);
    await expect(check(code, "another")).rejects.toMatchObject(notPending);
    expect(await check(code, "attempt")).toMatchObject({ valid: true });
    // Someone who knows the key has no more guesses than for a pending code.
    for (let count = 0; count < 5; count += 1) {
      await expect(check(`00000${count}`, "attempt")).rejects.toMatchObject(notPending);
    }
    await expect(check(code, "attempt")).rejects.toMatchObject(notPending);
  });

  it("is not approved after the code has expired, or if another check approved it", async () => {
    await dieAfter(1);
    expect(await check(code)).toMatchObject({ valid: true });
    await expect(check(code, "attempt")).rejects.toMatchObject(notPending);
    ({ id } = await startFor(organizationId));
    code = codeIn((await sentTexts())[0]);
    await check(code, "attempt");
    advance(10 * minuteMs);
    await expect(check(code, "attempt")).rejects.toMatchObject(notPending);
  });

  it("counts a wrong code once, and another code with the same key again", async () => {
    for (const _ of [1, 2]) expect(await check("000000", "attempt")).toMatchObject({ checksLeft: 4 });
    expect(await check("000001", "attempt")).toMatchObject({ checksLeft: 3 });
    expect(await check(code, "attempt")).toMatchObject({ valid: true, checksLeft: 2 });
  });

  it("at the same time is one approval for all", async () => {
    const checks = await Promise.all(Array.from({ length: 4 }, async () => check(code, "attempt")));
    expect(new Set(checks.map(({ valid }) => valid))).toEqual(new Set([true]));
    expect((await getVerification(ownerOf(organizationId), id)).checksLeft).toBe(4);
  });
});
