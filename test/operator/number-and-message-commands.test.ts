import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { minuteMs } from "../../shared/platform/clock.ts";
import type { Customer } from "../support/api.ts";
import { HttpCarrier, says } from "../support/http-carrier.ts";
import { auditLog, jsonOf, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The operator's commands for numbers and messages, on a gateway with a carrier that rejects messages.
 */

const operated = useOperatedGateway();
let customer: Customer;
let carrier: HttpCarrier;

beforeAll(async () => {
  const error = { code: 21606, message: "The From number is wrong" };
  carrier = await HttpCarrier.start(says(422, JSON.stringify({ error })));
  customer = await operated.register({ balance: 10 });
  const settings = await operated.fileOf(carrier.settings({ codePath: "error.code" }));
  await outputOf(`carriers set acme --settings ${settings}`);
  await outputOf(`carriers set beta --settings ${settings}`);
});
afterAll(async () => carrier.stop());

it("a number belongs to one organization, or to several by their keywords", async () => {
  const other = await operated.register();
  expect(await rejectionOf("numbers release 90909")).toBe("90909 belongs to no organization.");
  expect(await rejectionOf("numbers assign 90909 missing@example.com")).toContain("missing@example.com");
  const assign = `numbers assign +12025550100 ${customer.email}`;
  expect(await rejectionOf(assign)).toBe("Name the carrier of the number: --carrier.");
  expect(await rejectionOf(`${assign} --carrier none`)).toBe("There is no carrier none.");
  expect(await outputOf(`${assign} --carrier acme`)).toBe(`12025550100  ${customer.organizationId}\n`);
  // The number keeps its carrier.
  await outputOf(assign);
  const shared = `numbers assign 90909 ${other.email}`;
  await outputOf(`numbers assign 90909 ${customer.email} --keyword pizza --carrier aws`);
  await outputOf(`${shared} --keyword Pasta`);
  for (const [line, reason] of [
    [
      `numbers assign 12025550100 ${other.email}`,
      `12025550100 is assigned to ${customer.organizationId} alone: run numbers release first.`,
    ],
    [
      `${shared} --keyword PIZZA`,
      `PIZZA at 90909 is assigned to ${customer.organizationId}: run numbers release first.`,
    ],
    [`${shared} --keyword 'two words'`, "A keyword is one word of letters and digits."],
    [`${shared} --keyword stop`, "STOP means stop for every number."],
  ] as const) {
    expect(await rejectionOf(line)).toBe(reason);
  }
  expect(await rejectionOf(shared)).toContain("90909 is shared by 2 keywords");
  expect(await outputOf("numbers list")).toMatch(
    new RegExp(
      `^NUMBER +KEYWORD +ORGANIZATION +CARRIER\\n12025550100 +${customer.organizationId} +acme\\n` +
        `90909 +PASTA +${other.organizationId} +aws\\n90909 +PIZZA +${customer.organizationId} +aws\\n$`,
    ),
  );
  expect(await outputOf("numbers release 90909 --keyword pizza")).toBe("90909 pizza is released\n");
  await outputOf("numbers release 12025550100");
  const pasta = { number: "90909", keyword: "PASTA", organizationId: other.organizationId, carrier: "aws" };
  expect(await jsonOf("numbers list", z.unknown())).toEqual([pasta]);
  expect(await auditLog("numbers release")).toMatchObject([
    { before: { organizationId: customer.organizationId }, after: {} },
    { before: { keywords: { PIZZA: customer.organizationId, PASTA: other.organizationId } } },
  ]);
});

it("a message is found by its id, its number and its state, with the response of its carrier", async () => {
  const { organizationId } = customer;
  const endOf = async (id: string) =>
    vi.waitFor(async () => {
      const { status, errorCode } = await customer.message(id);
      expect(status).not.toBe("queued");
      return [status, errorCode];
    }, patience);
  expect(await endOf((await customer.send()).id)).toEqual(["sent", undefined]);
  await outputOf("routes set 4479 --carriers acme");
  operated.gateway.advanceClock(minuteMs);
  const { id } = await customer.send({ to: "447911123456" });
  expect(await endOf(id)).toEqual(["failed", "MESSAGE_PROVIDER_ERROR"]);

  const byId = await outputOf(`messages show ${id}`);
  expect(byId).toMatch(/^State +failed MESSAGE_PROVIDER_ERROR$/m);
  expect(byId).toMatch(/\nTIME +CARRIER +OUTCOME +CODE\n\S+ +acme +rejected +21606\n$/);
  expect(byId).not.toMatch(/The From number|hello/);
  const attempts = [{ at: expect.any(String), carrier: "acme", outcome: "rejected", code: "21606" }];
  const ofOrganization = `--organization ${organizationId}`;
  expect(await jsonOf(`messages show ${id} ${ofOrganization}`, z.unknown())).toMatchObject([
    { id, organizationId, attempts },
  ]);

  const found = async (options: string) =>
    jsonOf(`messages list ${ofOrganization} ${options}`, z.looseObject({ id: z.string() }));
  expect(await found("--number +447911123456")).toMatchObject([{ id, attempts }]);
  expect(await found("--status failed")).toMatchObject([{ id, status: "failed" }]);
  expect(await found("--limit 1")).toMatchObject([{ id }]);
  expect(await found("--since 2020-01-01")).toHaveLength(2);
  expect(await found("--since 2099-01-01")).toEqual([]);
  const listed = await outputOf(`messages list ${ofOrganization} --limit 1`);
  expect(listed).toMatch(/^MESSAGE +ACCEPTED +TO +STATE +ERROR +CARRIER +CODE +DELIVERY\n.* acme +21606\n/);
  expect(listed).toContain("1 messages; there may be more\n");
  const unknown = "msg_01J00000000000000000000000";
  expect(await rejectionOf(`messages show ${unknown}`)).toBe(`There is no message ${unknown}.`);
});
