import { beforeEach, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { TransactWriteCommand } from "../../shared/platform/aws/dynamodb.ts";
import { hourMs, secondMs } from "../../shared/platform/clock.ts";
import { cancelVerification } from "../../shared/verifications/end.ts";
import { findVerification } from "../../shared/verifications/record.ts";
import { messagesIn } from "../support/batches.ts";
import { advance } from "../support/clock.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import {
  checkFor,
  completeLater,
  initialMicros,
  number,
  priceMicros,
  resendFor,
  sentTexts,
  setFee,
  spentBy,
  startFor,
} from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";

let start = new Date("2039-03-01T12:00:00Z");
const feeMicros = 50_000;
const tooManyChecks = { code: "TOO_MANY_CHECKS" };

let organizationId: string;

beforeEach(async () => {
  start = new Date(start.getTime() + hourMs);
  vi.setSystemTime(start);
  await setFee(feeMicros);
  organizationId = await openOrganization(initialMicros);
});

const resend = async (id: string) => resendFor(organizationId, id);

async function guess(id: string, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await checkFor(organizationId, { id, code: "wrong" });
}

/** Starts a verification whose code can be sent again. */
async function startedBefore(): Promise<string> {
  const { id } = await startFor(organizationId);
  await sentTexts();
  advance(31 * secondMs);
  return id;
}

const spentMicros = async () => spentBy(organizationId);

/** Lets another call come between the reads and the transaction of a call. */
function overtakeWith(other: () => Promise<unknown>): void {
  let isOvertaken = false;
  interceptTableRequests(async (command, send) => {
    if (!isOvertaken && command instanceof TransactWriteCommand) {
      isOvertaken = true;
      await other();
    }
    return send();
  });
}

it("a code without a check left is neither sent nor charged again, and its fee returns", async () => {
  const id = await startedBefore();
  await guess(id, 5);
  await expect(resend(id)).rejects.toMatchObject(tooManyChecks);
  expect(await sentTexts()).toEqual([]);
  expect(await spentMicros()).toBe(priceMicros + feeMicros);
  await completeLater();
  expect(await spentMicros()).toBe(priceMicros);
});

it("a start that the last check overtakes makes another verification, and pays for one message", async () => {
  const id = await startedBefore();
  await guess(id, 4);
  overtakeWith(async () => guess(id, 1));
  const next = await startFor(organizationId);
  vi.restoreAllMocks();
  expect(next).toMatchObject({ sends: 1, checksLeft: 5 });
  expect(next.id).not.toBe(id);
  expect(await sentTexts()).toHaveLength(1);
  await completeLater();
  expect(await spentMicros()).toBe(2 * priceMicros);
});

it.each([
  ["its last check", "TOO_MANY_CHECKS", async (id: string) => guess(id, 1)],
  [
    "a cancellation",
    "VERIFICATION_NOT_PENDING",
    async (id: string) =>
      cancelVerification(await organizationOf(organizationId), ownerOf(organizationId), id),
  ],
  ["the erasure of its number", "VERIFICATION_NOT_PENDING", async () => eraseNumber(organizationId, number)],
])("a resend that %s overtakes sends and charges nothing", async (_, code, other) => {
  const id = await startedBefore();
  await guess(id, 4);
  overtakeWith(async () => other(id));
  await expect(resend(id)).rejects.toMatchObject({ code });
  vi.restoreAllMocks();
  expect((await findVerification(organizationId, id))?.sends).toBe(1);
  expect(await sentTexts()).toEqual([]);
  // The message before, which an erasure has redacted.
  expect((await messagesIn(organizationId)).filter(({ attempts }) => attempts === 0)).toEqual([]);
  expect(initialMicros - (await readWallet(organizationId)).balanceMicros).toBe(priceMicros + feeMicros);
});

it("a code with fewer than six characters has three checks, also one that replaces a longer one", async () => {
  const short = await startFor(organizationId, { code: "K7WX" });
  expect(short.checksLeft).toBe(3);
  await guess(short.id, 3);
  await expect(checkFor(organizationId, { id: short.id, code: "K7WX" })).rejects.toMatchObject(tooManyChecks);
  const to = "15005550008";
  const long = await startFor(organizationId, { to, code: "912345" });
  await guess(long.id, 1);
  advance(31 * secondMs);
  // A check meanwhile counts.
  overtakeWith(async () => guess(long.id, 2));
  expect(await startFor(organizationId, { to, code: "K7WX" })).toMatchObject({ id: long.id, checksLeft: 2 });
});
