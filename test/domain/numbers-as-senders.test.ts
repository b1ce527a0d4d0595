import { beforeEach, describe, expect, it, vi } from "vitest";

import { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import { senderRejection } from "../../shared/messages/accept/policies.ts";
import { assignNumber, releaseNumber } from "../../shared/messages/numbers/record.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { accept, inOrder, named, only, reject, ScriptedCarrier } from "../support/carriers.ts";
import { acceptFor, hello, recordOf, statusOf } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { balanceAfterRefunds } from "../support/three-carriers.ts";
import { openWallet } from "../support/wallets.ts";

let organizationId: string;
let other: string;
let number: string;
let last = 442_079_460_000;
beforeEach(async () => {
  [organizationId, other] = [await openWallet(1_000_000), await openWallet(1_000_000)];
  last += 1;
  number = String(last);
  await assignNumber({ number, organizationId, carrier: "beta" });
});

/** The fields of a message from the number. */
function fromNumber(from = number): Partial<SendSmsRequest> {
  return { senderId: undefined, from };
}

describe("a message from a number", () => {
  it("goes only to the carrier of the number, under the number", async () => {
    const [alpha, beta] = [new ScriptedCarrier(accept), new ScriptedCarrier(accept)];
    const job = await acceptFor(organizationId, fromNumber());
    // Its job has no facts that choose another carrier.
    const [queued] = await takeJobs("transactionalSends");
    expect(queued).toMatchObject(job);
    expect(queued).not.toHaveProperty("facts");
    await submitMessage(job, inOrder(named({ alpha, beta })));
    expect([alpha.received.length, beta.received.length]).toEqual([0, 1]);
    expect(beta.received[0]).toMatchObject({ from: number, isFromNumber: true });
    expect(await recordOf(job)).toMatchObject({ from: number, senderId: number, status: "sent" });
  });

  it("fails over to no other carrier, and is refunded", async () => {
    const [alpha, beta] = [new ScriptedCarrier(accept), new ScriptedCarrier(reject)];
    const job = await acceptFor(organizationId, fromNumber());
    await submitMessage(job, inOrder(named({ beta, alpha })));
    expect(alpha.received).toEqual([]);
    expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
    expect(await balanceAfterRefunds(job)).toBe(1_000_000);
  });

  it("goes only to destinations with a route, and not to a carrier above its price", async () => {
    const beta = new ScriptedCarrier(accept);
    const job = await acceptFor(organizationId, fromNumber());
    const noRoute = inOrder(named({ beta }));
    await submitMessage(job, { ...noRoute, carriers: { ...noRoute.carriers, routeOf: () => [] } });
    expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
    const costly = {
      rateCard: new RateCard(documentOf([{ prefix: "1", priceMicros: 1, costMicros: { beta: 9_000_000 } }])),
    };
    const other11 = await acceptFor(organizationId, fromNumber());
    const route = named({ alpha: new ScriptedCarrier(accept), beta });
    await submitMessage(other11, inOrder(route, costly));
    expect(await statusOf(other11)).toBe("failed: MESSAGE_PROVIDER_ERROR");
    expect(beta.received).toEqual([]);
    // The first carrier of a route is the operator's choice at any cost.
    const first = await acceptFor(organizationId, fromNumber());
    await submitMessage(first, inOrder(route.toReversed(), costly));
    expect(await statusOf(first)).toBe("sent");
  });

  it("takes the route where the number has no carrier", async () => {
    const own = `${number.slice(0, -1)}77`;
    await assignNumber({ number: own, organizationId });
    const alpha = new ScriptedCarrier(accept);
    await submitMessage(await acceptFor(organizationId, fromNumber(own)), inOrder(named({ alpha })));
    expect(alpha.received).toHaveLength(1);
  });

  it("is allowed where only approved sender IDs are", async () => {
    vi.stubEnv(environmentNames.policies.senderIds, "approved");
    const job = await acceptFor(organizationId, fromNumber());
    await submitMessage(job, inOrder(named({ beta: new ScriptedCarrier(accept) })));
    expect(await statusOf(job)).toBe("sent");
  });

  it("is rejected beside a sender ID", async () => {
    await expect(acceptFor(organizationId, { ...fromNumber(), senderId: "ACME" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
  });
});

describe("the number of others", () => {
  it.each([
    ["as a number", () => fromNumber()],
    ["as a sender ID of digits", () => ({ senderId: number.slice(0, 11) })],
    ["as a sender ID in national form", () => ({ senderId: `0${number.slice(2)}` })],
  ])("is rejected %s, without a charge", async (_, fields) => {
    await assignNumber({ number: number.slice(0, 11), organizationId });
    await expect(acceptFor(other, fields())).rejects.toMatchObject({ code: "SENDER_ID_NOT_APPROVED" });
    await expect(acceptFor(organizationId, fields())).resolves.toBeDefined();
    await releaseNumber(number.slice(0, 11));
  });

  it("is rejected when no one, or several organizations, have the number", async () => {
    const shared = `${number.slice(0, -2)}88`;
    await expect(acceptFor(organizationId, fromNumber(shared))).rejects.toMatchObject({
      code: "SENDER_ID_NOT_APPROVED",
    });
    await assignNumber({ number: shared, organizationId, keyword: "PIZZA" });
    await expect(acceptFor(organizationId, fromNumber(shared))).rejects.toMatchObject({
      code: "SENDER_ID_NOT_APPROVED",
    });
    await releaseNumber(shared);
  });

  it("sends nothing more once it was taken away: messages that wait fail, and are refunded", async () => {
    const waiting = await acceptFor(organizationId, fromNumber());
    const digits = number.slice(-10);
    await assignNumber({ number: digits, organizationId });
    const named11 = await acceptFor(organizationId, { senderId: digits });
    for (const each of [number, digits]) {
      await releaseNumber(each);
      await assignNumber({ number: each, organizationId: other, carrier: "beta" });
    }
    const carrier = new ScriptedCarrier(accept);
    for (const job of [waiting, named11]) {
      await submitMessage(job, only(carrier));
      expect(await statusOf(job)).toBe("failed: MESSAGE_SENDER_ID_NOT_APPROVED");
    }
    expect(carrier.received).toEqual([]);
    expect(await takeJobs("refunds")).toEqual([waiting, named11]);
    expect(await senderRejection({ organizationId, senderId: number, from: number })).toBe(
      "SENDER_ID_NOT_APPROVED",
    );
  });

  it("sends nothing after it was reassigned in the middle of many messages", async () => {
    const jobs = await Promise.all(
      Array.from({ length: 30 }, async () => acceptFor(organizationId, fromNumber())),
    );
    const carrier = new ScriptedCarrier(async (call) => {
      if (call === 10) {
        await releaseNumber(number);
        await assignNumber({ number, organizationId: other });
      }
      return accept();
    });
    for (const job of jobs) await submitMessage(job, only(carrier));
    expect(carrier.received).toHaveLength(10);
    const states = Object.groupBy(await Promise.all(jobs.map(statusOf)), (state) => state);
    expect(states["sent"]).toHaveLength(10);
    expect(states["failed: MESSAGE_SENDER_ID_NOT_APPROVED"]).toHaveLength(20);
  });
});

it("accepts a number with a plus sign, and returns it without", () => {
  expect(SendSmsRequest.parse({ ...hello, senderId: undefined, from: `+${number}` }).from).toBe(number);
  expect(SendSmsRequest.safeParse({ ...hello, from: "12" }).success).toBe(false);
});
