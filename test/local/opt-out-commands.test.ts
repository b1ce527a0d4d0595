import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { listInbound } from "../../shared/messages/inbound/list.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { getOptOut, hearWord } from "../../shared/messages/opt-outs/opt-outs.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { Customer } from "../support/api.ts";
import { operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

let gateway: LocalGateway;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ gateway, stop } = await startOperatedGateway());
});
afterAll(async () => stop());

const phoneNumber = "15005550031";

async function newCustomer(): Promise<Customer> {
  return Customer.register({ balance: 1, baseUrl: gateway.url });
}

it("the operator lifts a STOP, which is in the audit log without the number; the customer cannot", async () => {
  const { client, email, organizationId } = await newCustomer();
  await hearWord(organizationId, phoneNumber, { word: "stop", saidAt: new Date().toISOString() });
  const params = { phoneNumber };
  await expect(client.deleteOptOut({ params })).rejects.toMatchObject({ code: "OPT_OUT_BY_REPLY" });
  expect(await client.getOptOut({ params })).toMatchObject({ source: "reply" });

  const lift = ["opt-outs", "remove", `+${phoneNumber}`, email, "--reason", "Ticket 12"];
  expect(await operator(lift)).toMatchObject({ code: 0, out: expect.stringContaining("again") });
  await expect(client.getOptOut({ params })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const again = await operator(lift);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("has not opted out") });

  const { out } = await operator(["audit-log", email, "--json"]);
  const entry = out.split("\n").find((line) => line.includes("opt-outs remove"));
  expect(JSON.parse(entry ?? "")).toMatchObject({
    subject: { reason: "Ticket 12" },
    before: { source: "reply", phoneNumberDigest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    after: { lifted: true },
  });
  expect(entry).not.toContain(phoneNumber);

  const exported = await operator(["organizations", "export", email]);
  const Row = z.looseObject({ entity: z.optional(z.string()) });
  const rows = exported.out
    .split("\n")
    .filter(Boolean)
    .map((line) => Row.parse(JSON.parse(line)));
  expect(rows.filter(({ entity }) => entity === "optOut")).toEqual([]);
  expect(rows).toContainEqual(expect.objectContaining({ entity: "liftedOptOut", phoneNumber }));
});

it("a parked START of AWS that is redriven does not lift a later STOP", async () => {
  const { organizationId } = await newCustomer();
  const number = "12025550177";
  await assignNumber({ number, organizationId });
  const sqs = new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false });
  const output = (name: string): string =>
    gateway.stack.outputs.find((each) => each.name === name)?.value ?? "";
  const said = (messageBody: string) => ({
    originationNumber: `+${phoneNumber}`,
    destinationNumber: `+${number}`,
    inboundMessageId: messageBody,
    messageBody,
  });
  const send = async (queueUrl: string, body: object) =>
    sqs.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(body),
        MessageGroupId: "aws",
      }),
    );
  await send(output(outputNames.deadLetterQueueUrl("carrierCallbacks")), said("START"));
  const parkedAt = Date.now();
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(parkedAt + 2), patience);
  await send(output(outputNames.queueUrl("carrierCallbacks")), said("STOP"));
  const optOut = await vi.waitFor(async () => getOptOut(organizationId, phoneNumber), patience);
  expect(optOut).toMatchObject({ source: "reply" });
  expect(Date.parse(optOut.createdAt)).toBeGreaterThan(parkedAt - secondMs);

  expect(await operator(["dead-letters", "redrive", "carrierCallbacks"])).toMatchObject({ code: 0 });
  await vi.waitFor(async () => {
    const { rows } = await listInbound(organizationId, { page: 1, limit: 20 });
    expect(rows.map(({ message }) => message).toSorted()).toEqual(["START", "STOP"]);
  }, patience);
  expect(await getOptOut(organizationId, phoneNumber)).toEqual(optOut);
});
