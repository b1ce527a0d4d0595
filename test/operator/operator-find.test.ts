import { expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { findInAll } from "../../infra/operator/messages-find.ts";
import { Output } from "../../infra/operator/output.ts";
import { messagesOfDay, recount } from "../../shared/messages/counts/recount.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { dayMs, dayOf, minuteMs } from "../../shared/platform/clock.ts";
import { firstIdAt } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey, shardOf } from "../../shared/platform/table/shards.ts";
import { putItem, putOf, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { damage } from "../support/items.ts";
import { sentMessage } from "../support/message-records.ts";
import { captured, jsonOf, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The search for messages in all organizations, on a gateway with the organizations of this file only.
 */

const operated = useOperatedGateway();
const Found = z.looseObject({ id: z.string(), customerText: z.string() });
const find = async (typed: string) => jsonOf(`messages find ${typed}`, Found);

/** Writes a message of a customer that was accepted some days ago, and was their last one. */
async function accepted({ organizationId }: Customer, daysAgo: number, fields: Partial<MessageRecord>) {
  const at = new Date(Date.now() - daysAgo * dayMs);
  const id = `${firstIdAt("msg", at).padEnd(29, "0")}1`;
  const message = sentMessage(organizationId, { id, queuedAt: at.toISOString(), ...fields });
  await putItem(putOf(messageKey(message), message));
  const set = { messageCount: 1, spendDay: dayOf(at.toISOString()) };
  await updateItem(z.unknown(), updateOf(keys.wallet(organizationId), { set }));
  return message;
}

it("finds messages to a number in all organizations, newest first, with the words for the customer", async () => {
  const carrier = await HttpCarrier.start(says(422, JSON.stringify({ error: { code: 21606 } })));
  const settings = await operated.fileOf(carrier.settings({ codePath: "error.code" }));
  await outputOf(`carriers set acme --settings ${settings}`);
  await outputOf("routes set 4479 --carriers acme");
  operated.gateway.advanceClock(minuteMs);
  const to = "447911123456";
  const [first, second] = [
    await operated.register({ balance: 1 }),
    await operated.register({ balance: 1 }),
    await operated.register({ balance: 1 }),
  ];
  const older = await first.send({ to });
  const newer = await second.send({ to, senderId: "OTHER" });
  await second.send();
  await vi.waitFor(async () => expect((await second.message(newer.id)).status).toBe("failed"), patience);
  await vi.waitFor(async () => expect((await first.message(older.id)).status).toBe("failed"), patience);
  await carrier.stop();

  const text = await outputOf(`messages find +${to}`);
  const reason = "The carrier rejected the message, or could not be reached in any attempt.";
  const advice = "Send it again in a few minutes, or contact the gateway operator.";
  const words = [
    ["Message", newer.id],
    ["Organization", `${second.email} \\(${second.organizationId}\\)`],
    ["Accepted", "\\S+Z"],
    ["State", "failed MESSAGE_PROVIDER_ERROR"],
    ["From", "OTHER"],
    ["Attempts", "Rejected by a carrier \\(acme, 21606\\) at \\S+Z"],
    ["For the customer", `${reason} ${advice}`],
  ].map(([name, value]) => `${name} +${value}\\n`);
  expect(text).toMatch(new RegExp(`^${words.join("")}\\nMessage +${older.id}\\n`));
  expect(text).toMatch(/\n\n2 messages, in 2 of 3 organizations, since \S+Z; [\d.]+ read units\n$/);
  expect(text).not.toContain("hello");

  const rows = await find(to);
  const attempts = [{ at: expect.any(String), carrier: "acme", outcome: "rejected", code: "21606" }];
  expect(rows).toMatchObject([
    { id: newer.id, organizationName: second.email, senderId: "OTHER", attempts },
    { id: older.id, organizationName: first.email, attempts },
  ]);
  expect(JSON.stringify(rows)).not.toContain("hello");
  expect(await find(`${to} --limit 1`)).toMatchObject([{ id: newer.id }]);
  expect(await outputOf(`messages find ${to} --limit 1`)).toContain(
    "1 messages, and there are more, in 2 of 3",
  );
  expect(await outputOf("messages find 447911123457")).toMatch(/^0 messages, in 2 of 3/);
  expect(await rejectionOf("messages find 123", 2)).toContain("<number>");
  expect(await rejectionOf(`messages find ${to} --since 7`, 2)).toContain("must be days such as 7d");
});

it("looks into the past days that are indexed, of organizations that sent something in the time", async () => {
  const customer = await operated.register();
  const to = "447911000111";
  const old = await accepted(customer, 10, { to });
  await recount(messagesOfDay(shardOf(old)));
  const searched = async (options: string) =>
    /in (\d+) of/.exec(await outputOf(`messages find ${to} ${options}`))?.[1];
  expect(await find(to)).toEqual([]);
  expect(await find(`${to} --since 9d`)).toEqual([]);
  expect(await find(`${to} --since 11d`)).toMatchObject([{ id: old.id, to }]);
  expect(await find(`${to} --since ${dayOf(old.queuedAt)}`)).toMatchObject([{ id: old.id }]);
  expect(await find(`${to} --since 20d --until 9d`)).toMatchObject([{ id: old.id }]);
  expect(await find(`${to} --until 9d`)).toMatchObject([{ id: old.id }]);
  expect(await find(`${to} --since 20d --until 11d`)).toEqual([]);
  expect(await rejectionOf(`messages find ${to} --since 3d --until 4d`)).toBe(
    "--until must be later than --since.",
  );
  expect(Number(await searched("--since 9d"))).toBe(Number(await searched("--since 11d")) - 1);
  expect(await jsonOf(`messages list --organization ${customer.email} --since 9d`, Found)).toEqual([]);
});

it("has the words of the console for each state", async () => {
  const customer = await operated.register();
  const to = "447911000222";
  const at = new Date().toISOString();
  const later = new Date(Date.now() + dayMs).toISOString();
  const states: readonly (readonly [Partial<MessageRecord>, string])[] = [
    [{ status: "queued" }, "Waiting to be submitted to a carrier…"],
    [{ status: "queued", scheduledAt: at }, "Waiting to be submitted to a carrier…"],
    [{ status: "queued", scheduledAt: later }, `Scheduled for ${later}`],
    [{ status: "cancelled", cancelledAt: at }, `Cancelled ${at}`],
    [{ sentAt: at }, "Waiting for the delivery receipt…"],
    [{ sentAt: at, deliveryStatus: "delivered", deliveryAt: at }, "Received by the phone"],
    [
      { sentAt: at, deliveryStatus: "unknown", deliveryAt: at },
      "It is unknown whether the phone received it",
    ],
    [
      {
        sentAt: at,
        deliveryStatus: "undelivered",
        deliveryAt: at,
        deliveryErrorCode: "DELIVERY_UNREACHABLE",
      },
      "The phone is switched off, out of reach or barred. Send it again later.",
    ],
  ];
  for (const [index, [fields, words]] of states.entries()) {
    const { id } = await accepted(customer, index / 100, { to, ...fields });
    expect(await find(to)).toContainEqual(expect.objectContaining({ id, customerText: words }));
  }
});

it("names what was not searched, and ends at its limits", async () => {
  const [customer, broken] = [await operated.register(), await operated.register()];
  const to = "447911000333";
  await accepted(customer, 0, { to });
  await accepted(broken, 0, { to });
  await damage(keys.wallet(broken.organizationId), { seq: "x" });
  const { err, code } = await operator(`messages find ${to}`);
  expect(code).toBe(0);
  expect(err).toBe(
    `Warning: The messages of ${broken.organizationId} were not searched, because a record cannot be read.\n`,
  );

  await captured(async () => {
    const search = { to, since: new Date(0), limit: 1 };
    expect(await findInAll(search, () => 5_000_000, new Output(false))).toEqual({
      found: [],
      hasMore: false,
      searched: 0,
      sending: 0,
      problems: ["Only the first 0 organizations were searched."],
    });
  });
});
