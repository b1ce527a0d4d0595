import { expect, it, vi } from "vitest";

import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { getOptOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import {
  accept,
  inOrder,
  only,
  ScriptedCarrier,
  named,
  loseResponse,
  reject,
  throttle,
  beUnreachable,
} from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import {
  acceptedMessage,
  acceptFor,
  laterJobOf,
  priceMicros,
  recordOf,
  statusOf,
} from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { threeCarriers, balanceAfterRefunds } from "../support/three-carriers.ts";
import { ownerOf } from "../support/viewer.ts";

/*
 * A message and the carriers of its route: which of them get it, in which order, and which never.
 */

const refuse = (): SubmitResult => ({ outcome: "rejected", errorCode: "MESSAGE_PROVIDER_ERROR" });

/** Sets the clock forward until the lease of a lost sender has lapsed. */
function letLeaseLapse(): void {
  advance(121_000);
}

it.each([
  ["rejected", reject],
  ["throttled", throttle],
  ["was unreachable for", beUnreachable],
])(
  "a message that the first carrier %s goes to the second with the same reference, and to no other",
  async (_, first) => {
    const { job, alpha, beta, route, asked } = await threeCarriers(first);
    const rateCard = new RateCard(
      documentOf([{ prefix: "1", priceMicros: 1, costMicros: { alpha: 5, beta: 7, gamma: 9 } }]),
    );
    const sent = await submitMessage(job, inOrder(route, { rateCard }));
    expect(sent?.id).toBe(job.messageId);
    expect(asked()).toEqual([1, 1, 0]);
    expect(beta.received).toEqual(alpha.received);
    expect(await recordOf(job)).toMatchObject({
      status: "sent",
      carrier: "beta",
      carrierReference: "carrier-1",
      costMicros: 7,
      attempts: 1,
    });
    await submitMessage(job, inOrder(route));
    expect(asked()).toEqual([1, 1, 0]);
    expect(await balanceAfterRefunds(job)).toBe(1_000_000 - 7_900);
  },
);

it("a message with an unknown outcome at the first carrier goes to no other, fails as unknown, and is refunded once", async () => {
  const { job, route, asked } = await threeCarriers(loseResponse);
  await expect(submitMessage(job, inOrder(route))).rejects.toThrow("what the carrier did is not known");
  letLeaseLapse();
  await submitMessage(job, inOrder(route));
  // The order of the route has changed meanwhile.
  await submitMessage(job, inOrder(route.toReversed()));
  expect(asked()).toEqual([1, 0, 0]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  expect(await balanceAfterRefunds(job)).toBe(1_000_000);
});

it.each([
  ["accepts", accept, "sent"],
  ["rejects", reject, "failed: MESSAGE_UNROUTABLE"],
  ["throttles", throttle, "queued"],
  ["is unreachable for", beUnreachable, "queued"],
])(
  "an idempotent carrier alone gets the message again, and decides it where it then %s it",
  async (_, then, status) => {
    let isSilent = true;
    const { job, route, asked } = await threeCarriers(
      () => (isSilent ? loseResponse() : then()),
      accept,
      true,
    );
    await expect(submitMessage(job, inOrder(route))).rejects.toThrow("what the carrier did is not known");
    letLeaseLapse();
    isSilent = false;
    // The order of the route has changed meanwhile.
    await submitMessage(job, inOrder(route.toReversed()));
    expect(asked()).toEqual([2, 0, 0]);
    expect(await statusOf(job)).toBe(status);
  },
);

it.each([
  ["was disabled", true],
  ["is gone", false],
])("no carrier gets a message with an unknown outcome at a carrier that %s meanwhile", async (_, isThere) => {
  const { job, alpha, route, asked } = await threeCarriers(loseResponse, accept, true);
  await expect(submitMessage(job, inOrder(route))).rejects.toThrow("what the carrier did is not known");
  letLeaseLapse();
  const former = isThere ? [{ name: "alpha", carrier: alpha, isDisabled: true }] : [];
  await submitMessage(job, inOrder([...former, ...route.slice(1)]));
  expect(asked()).toEqual([1, 0, 0]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
});

it("a message that failed over and then became unresolved returns only to the carrier that it failed over to", async () => {
  let isSilent = true;
  const { job, route, asked } = await threeCarriers(
    throttle,
    () => (isSilent ? loseResponse() : accept()),
    true,
  );
  await expect(submitMessage(job, inOrder(route))).rejects.toThrow("what the carrier did is not known");
  expect(await recordOf(job)).toMatchObject({ status: "queued", carrier: "beta", unresolvedAttempts: 1 });
  letLeaseLapse();
  isSilent = false;
  await submitMessage(job, inOrder(route));
  expect(asked()).toEqual([1, 2, 0]);
  expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: "beta" });
});

it.each(["MESSAGE_INVALID_DESTINATION", "MESSAGE_RECIPIENT_OPTED_OUT"] as const)(
  "a message that is rejected for its number (%s) goes to no other carrier, and is refunded",
  async (errorCode) => {
    const { job, route, asked } = await threeCarriers(() => ({ outcome: "rejected", errorCode }));
    await submitMessage(job, inOrder(route));
    expect(asked()).toEqual([1, 0, 0]);
    expect(await statusOf(job)).toBe(`failed: ${errorCode}`);
    expect(await balanceAfterRefunds(job)).toBe(1_000_000);
  },
);

it("a message that all carriers reject fails with the last code, is refunded, and names no carrier to the customer", async () => {
  const { job, route, asked } = await threeCarriers(refuse, reject);
  await submitMessage(job, inOrder(route.slice(0, 2)));
  expect(asked()).toEqual([1, 1, 0]);
  expect(await recordOf(job)).toMatchObject({ status: "failed", errorCode: "MESSAGE_UNROUTABLE" });
  const seen = JSON.stringify([
    await getMessage(ownerOf(job.organizationId), job.messageId),
    await takeJobs("webhookDeliveries"),
  ]);
  expect(seen).toContain("MESSAGE_UNROUTABLE");
  expect(seen).not.toMatch(/alpha|beta|carrier-1/);
  expect(await balanceAfterRefunds(job)).toBe(1_000_000);
});

it("a carrier that has rejected a message does not get it again when another one has throttled it", async () => {
  let isBusy = true;
  const { job, route, asked } = await threeCarriers(refuse, () => (isBusy ? throttle() : reject()));
  const sender = inOrder(route.slice(0, 2));
  await submitMessage(job, sender);
  await submitMessage(job, sender);
  expect(asked()).toEqual([1, 2, 0]);
  expect(await recordOf(job)).toMatchObject({
    status: "queued",
    rejectedBy: ["alpha"],
    unresolvedAttempts: 0,
  });
  isBusy = false;
  await submitMessage(job, sender);
  expect(asked()).toEqual([1, 3, 0]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
  expect(await balanceAfterRefunds(job)).toBe(1_000_000);
});

it("a disabled carrier is skipped, and a message without another carrier waits without a lease", async () => {
  const { job, route, asked } = await threeCarriers(accept);
  const disabled = route.slice(0, 1).map((each) => ({ ...each, isDisabled: true }));
  await submitMessage(job, inOrder(disabled));
  expect(asked()).toEqual([0, 0, 0]);
  expect(await recordOf(job)).toMatchObject({ status: "queued", attempts: 0, unresolvedAttempts: 0 });
  await submitMessage(job, inOrder([...disabled, ...route.slice(1)]));
  expect(asked()).toEqual([0, 1, 0]);
  expect(await statusOf(job)).toBe("sent");
});

it("a message that waited six hours for a disabled carrier fails and is refunded", async () => {
  const { job, alpha, asked } = await threeCarriers(accept);
  const sender = inOrder([{ name: "alpha", carrier: alpha, isDisabled: true }]);
  const start = Date.now();
  vi.setSystemTime(start);
  let later = await laterJobOf(job, sender);
  vi.setSystemTime(start + 5.9 * 3_600_000);
  later = await laterJobOf(later, sender);
  expect(await statusOf(job)).toBe("queued");
  vi.setSystemTime(start + 6.1 * 3_600_000);
  await submitMessage(later, sender);
  expect(asked()).toEqual([0, 0, 0]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_PROVIDER_ERROR");
  expect(await balanceAfterRefunds(job)).toBe(1_000_000);
});

it("a message without a route fails and is refunded", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, inOrder([]));
  expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
  expect(await balanceAfterRefunds(job)).toBe(1_000_000);
});

it("a sender with too little time left uses no second carrier, and the next sender may", async () => {
  let remainingMs = 20_000;
  const { job, route, asked } = await threeCarriers(() => {
    remainingMs = 10_900;
    return refuse();
  });
  await submitMessage(job, inOrder(route, { remainingTimeMs: () => remainingMs }));
  expect(asked()).toEqual([1, 0, 0]);
  expect(await recordOf(job)).toMatchObject({
    status: "queued",
    unresolvedAttempts: 0,
    rejectedBy: ["alpha"],
  });
  await submitMessage(job, inOrder(route, { remainingTimeMs: () => 11_000 }));
  expect(asked()).toEqual([1, 1, 0]);
  expect(await statusOf(job)).toBe("sent");
});

it("a sender whose lease has lapsed does not fail over, though the carrier rejected the message", async () => {
  const job = await acceptedMessage();
  const other = new ScriptedCarrier(accept, true);
  const start = Date.now();
  const slow = new ScriptedCarrier(async () => {
    letLeaseLapse();
    // The next sender submits it to the same idempotent carrier again.
    await submitMessage(job, only(other));
    // The clocks of two machines may differ.
    vi.setSystemTime(start);
    return refuse();
  }, true);
  const second = new ScriptedCarrier(accept);
  await expect(submitMessage(job, inOrder(named({ sandbox: slow, beta: second })))).rejects.toThrow("lapsed");
  expect(other.received).toHaveLength(1);
  expect(second.received).toHaveLength(0);
  expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: "sandbox" });
});

it.each([
  ["a rejection", "carrier", says(422), [1, 1], "sent"],
  ["throttling", "carrier", says(503), [1, 1], "sent"],
  ["rejected credentials", "carrier", says(401), [1, 1], "sent"],
  ["no listener", "nobody", says(200), [0, 1], "sent"],
  ["an unclear error", "carrier", says(500), [1, 0], "failed: MESSAGE_OUTCOME_UNKNOWN"],
  ["a redirect", "carrier", says(307, "", { Location: "/" }), [1, 0], "failed: MESSAGE_OUTCOME_UNKNOWN"],
] as const)(
  "over HTTP, %s decides which carriers get the message",
  async (_, listens, answer, asked, status) => {
    const job = await acceptedMessage();
    const [first, second] = [await HttpCarrier.start(answer), await HttpCarrier.start(says(200))];
    try {
      const url = first.url;
      if (listens === "nobody") await first.stop();
      const carriers = [url, second.url].map((address, index) => {
        const name = `carrier-${index}`;
        const settings = CarrierSettings.parse({
          kind: "http",
          url: address,
          body: { to: "{to}", text: "{text}" },
          responses: [
            { meaning: "accepted", statuses: [200] },
            { meaning: "rejected", statuses: [422] },
            { meaning: "throttled", statuses: [503] },
          ],
        });
        return { name, carrier: carrierOf({ name, settings }) };
      });
      const submit = async (): Promise<unknown> =>
        submitMessage(job, inOrder(carriers)).catch(() => undefined);
      await submit();
      letLeaseLapse();
      await submit();
      expect([first, second].map((each) => each.asked.length)).toEqual(asked);
      expect(await statusOf(job)).toBe(status);
    } finally {
      if (listens !== "nobody") await first.stop();
      await second.stop();
    }
  },
);

it("a person who has sent STOP to the carrier is opted out, and the message is refunded", async () => {
  const job = await acceptedMessage();
  const refusal = (): SubmitResult => ({ outcome: "rejected", errorCode: "MESSAGE_RECIPIENT_OPTED_OUT" });
  await submitMessage(job, only(new ScriptedCarrier(refusal)));
  expect(await recordOf(job)).toMatchObject({ status: "failed", errorCode: "MESSAGE_RECIPIENT_OPTED_OUT" });
  const before = await readWallet(job.organizationId);
  await balanceAfterRefunds(job);
  const { balanceMicros } = await readWallet(job.organizationId);
  expect(balanceMicros).toBe(before.balanceMicros + priceMicros);
  const { to } = await recordOf(job);
  expect(await getOptOut(job.organizationId, to)).toMatchObject({ source: "reply" });
  const sale = acceptFor(job.organizationId, { to, messageType: "marketing" });
  await expect(sale).rejects.toMatchObject({ code: "RECIPIENT_OPTED_OUT" });
  expect((await readWallet(job.organizationId)).balanceMicros).toBe(balanceMicros);
});
