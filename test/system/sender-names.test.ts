import { randomBytes } from "node:crypto";

import { beforeEach, expect, it } from "vitest";

import { isApprovedSenderId } from "../../shared/messages/sender-ids/names.ts";
import { readSenderIds } from "../../shared/messages/sender-ids/record.ts";
import { decideSenderId } from "../../shared/messages/sender-ids/review.ts";
import { createSenderId } from "../../shared/messages/sender-ids/sender-ids.ts";
import { Customer } from "../support/api.ts";

/*
 * The organizations that a name is approved for.
 */

const approval = { approved: true } as const;
const rejection = { approved: false, reason: "not yours" } as const;
const isRejected = { code: "CONFLICT" };

let first: string;
let second: string;
/** One that no other test uses. */
let name: string;
beforeEach(async () => {
  [{ organizationId: first }, { organizationId: second }] = await Promise.all([
    Customer.register(),
    Customer.register(),
  ]);
  name = `Bank${randomBytes(3).toString("hex")}`;
});

async function requested(organizationId: string, senderId = name): Promise<string> {
  return (await createSenderId(organizationId, { senderId })).id;
}

/** Which of the two may send under a name. */
async function approvedFor(senderId = name): Promise<boolean[]> {
  return Promise.all([isApprovedSenderId(first, senderId), isApprovedSenderId(second, senderId)]);
}

it("a name is approved for one organization, in upper and lower case", async () => {
  const ids = [await requested(first), await requested(second, name.toUpperCase())] as const;
  expect(await approvedFor()).toEqual([false, false]);
  await decideSenderId(first, ids[0], approval);
  for (const written of [name, name.toUpperCase(), name.toLowerCase()]) {
    expect(await approvedFor(written)).toEqual([true, false]);
  }
  const rejected = decideSenderId(second, ids[1], approval);
  await expect(rejected).rejects.toMatchObject({ ...isRejected, message: expect.stringContaining(first) });
  expect(await approvedFor()).toEqual([true, false]);
  expect(await readSenderIds(second)).toMatchObject([{ status: "pending" }]);
});

it("the operator lets several have a name, and the others keep it when one loses it", async () => {
  const ids = [await requested(first), await requested(second)] as const;
  await decideSenderId(first, ids[0], approval);
  await decideSenderId(second, ids[1], approval, { isShared: true });
  expect(await approvedFor()).toEqual([true, true]);
  await decideSenderId(first, ids[0], rejection);
  expect(await approvedFor()).toEqual([false, true]);
  // Only the other has it now.
  await expect(decideSenderId(first, await requested(first), approval)).rejects.toMatchObject(isRejected);
});

it("a name whose approval is withdrawn is free, and a rejection does not withdraw another's approval", async () => {
  const ids = [await requested(first), await requested(second)] as const;
  await decideSenderId(first, ids[0], approval);
  await decideSenderId(second, ids[1], rejection);
  expect(await approvedFor()).toEqual([true, false]);
  await decideSenderId(first, ids[0], rejection);
  expect(await approvedFor()).toEqual([false, false]);
  await decideSenderId(second, await requested(second), approval);
  expect(await approvedFor()).toEqual([false, true]);
});

it("a name that is approved for two organizations at the same time goes to one", async () => {
  const ids = [await requested(first), await requested(second)] as const;
  const decisions = await Promise.allSettled([
    decideSenderId(first, ids[0], approval),
    decideSenderId(second, ids[1], approval),
  ]);
  expect(decisions.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(decisions.find(({ status }) => status === "rejected")).toMatchObject({ reason: isRejected });
  expect((await approvedFor()).filter(Boolean)).toHaveLength(1);
});

it("a number belongs to no organization, though it was approved", async () => {
  const number = `1${Date.now()}`.slice(0, 11);
  await decideSenderId(first, await requested(first, number), approval);
  expect(await approvedFor(number)).toEqual([false, false]);
});
