import { describe, expect, it } from "vitest";

import { firstSteps, type Standing } from "../../functions/console/app/first-steps.ts";
import type { ConsoleFeature } from "../../shared/api/contract/console.ts";

const strict: readonly ConsoleFeature[] = ["verified-email", "kyc", "approved-sender-ids"];
const newcomer: Standing = {
  isEmailVerified: false,
  kyc: null,
  senderIds: [],
  balance: 0,
  hasSentTest: false,
  hasSentLive: false,
};
const submitted = { id: "kyc_1", businessName: "Ada", submittedAt: "2026-11-01T00:00:00.000Z" } as const;
const requested = { id: "sid_1", senderId: "ADA", isDefault: false, createdAt: submitted.submittedAt };

/** The states of the steps by their names. */
function statesOf(standing: Partial<Standing>, features: readonly ConsoleFeature[] = strict) {
  const steps = firstSteps({ ...newcomer, ...standing }, (feature) => features.includes(feature), [
    "#/wallet",
    "Wallet",
  ]);
  return Object.fromEntries(steps.map(({ id, state }) => [id, state]));
}

describe("the first steps of a customer", () => {
  it("are only those that the stage requires, in their order", () => {
    expect(Object.keys(statesOf({}))).toEqual(["email", "kyc", "sender", "funds", "test", "live"]);
    expect(Object.keys(statesOf({}, ["top-up"]))).toEqual(["funds", "test", "live"]);
    expect(new Set(Object.values(statesOf({})))).toEqual(new Set(["todo"]));
  });

  it("wait for the operator while a review is open, and one approval is enough", () => {
    const [pending, rejected, approved] = (["pending", "rejected", "approved"] as const).map((status) => ({
      kyc: { ...submitted, status },
      senderIds: [{ ...requested, status }],
    }));
    expect(statesOf(pending ?? {})).toMatchObject({ kyc: "waiting", sender: "waiting" });
    expect(statesOf(rejected ?? {})).toMatchObject({ kyc: "todo", sender: "todo" });
    expect(statesOf(approved ?? {})).toMatchObject({ kyc: "done", sender: "done" });
    const senderIds = [...(pending?.senderIds ?? []), ...(approved?.senderIds ?? [])];
    expect(statesOf({ senderIds })).toMatchObject({ sender: "done" });
  });

  it("need neither a test nor funds any more after a live message", () => {
    expect(statesOf({ hasSentLive: true }, [])).toEqual({ funds: "done", test: "done", live: "done" });
    expect(statesOf({ hasSentTest: true, balance: 1 }, [])).toEqual({
      funds: "done",
      test: "done",
      live: "todo",
    });
  });

  it("lead to a live message only when all that it requires is done", () => {
    const linkOf = (balance: number) =>
      firstSteps({ ...newcomer, balance }, () => false, ["#/wallet", "Wallet"]).at(-1)?.link;
    expect([linkOf(0), linkOf(1)]).toEqual([undefined, ["#/send", "Send message"]]);
  });
});
