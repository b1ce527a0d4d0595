import { beforeAll, beforeEach, expect, it } from "vitest";

import { carriersOf } from "../../shared/carriers/carriers.ts";
import { readCarriers } from "../../shared/carriers/record.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { accept, inOrder, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, priceMicros, recordOf } from "../support/messages.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * Messages with more parts than a carrier sends as one. The carrier `short` sends two.
 */

const updatedAt = "2026-01-01T00:00:00.000Z";
const twoParts = "a".repeat(306);
const threeParts = "a".repeat(307);

const routes = { "": ["long"], 15005551: ["short"], 15005552: ["short", "long"] };
const prefixes = Object.keys(routes);

beforeAll(async () => {
  for (const [name, maxParts] of [["short", 2], ["long"]] as const) {
    const settings = { kind: "kannel", url: "http://127.0.0.1:9/send", maxParts };
    const record = { entity: "carrier", name, settings, createdAt: updatedAt, updatedAt } as const;
    await putItem(putUnchecked(keys.carrier(name), record));
  }
  for (const [prefix, carriers] of Object.entries(routes)) {
    await putItem(putUnchecked(keys.route(prefix, "any"), { entity: "route", prefix, carriers, updatedAt }));
  }
});

let organizationId: string;
beforeEach(async () => {
  organizationId = await openWallet(1_000_000);
});

it("a message that no carrier of its route sends whole is rejected before the debit", async () => {
  const to = "15005551000";
  await expect(acceptFor(organizationId, { to, message: threeParts })).rejects.toMatchObject({
    code: "MESSAGE_TOO_LONG",
  });
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000);
  await acceptFor(organizationId, { to, message: twoParts });
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000 - 2 * priceMicros);
});

it("a message goes to the first carrier of its route that sends it whole", async () => {
  const [short, long] = [new ScriptedCarrier(accept), new ScriptedCarrier(accept)];
  const sender = inOrder([
    { name: "short", carrier: short, maxParts: 2 },
    { name: "long", carrier: long },
  ]);
  for (const [message, name] of [
    [twoParts, "short"],
    [threeParts, "long"],
  ] as const) {
    const job = await acceptFor(organizationId, { to: "15005552000", message });
    await submitMessage(job, sender);
    expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: name });
  }
  expect([short.received.length, long.received.length]).toEqual([1, 1]);
});

it("the limits of the sender are those of the settings", async () => {
  const carriers = carriersOf(await readCarriers());
  expect(carriers.routeOf({ to: "15005552000" }).map(({ name, maxParts }) => [name, maxParts])).toEqual([
    ["short", 2],
    ["long", undefined],
  ]);
});

it("without routes the stage's carrier counts, which has no limit", async () => {
  for (const prefix of prefixes) await deleteItem(keys.route(prefix, "any"));
  advance(31_000);
  await acceptFor(organizationId, { to: "15005551000", message: threeParts });
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000 - 3 * priceMicros);
});
