import { rm } from "node:fs/promises";

import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, expect, inject, it, vi } from "vitest";

import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { Customer } from "../support/api.ts";
import { changedAssembly } from "../support/changed-assembly.ts";
import { importContacts } from "../support/contacts.ts";
import { patience } from "../support/patience.ts";

/** How often Lambda calls a function in one chain of calls that is not explicitly allowed. */
const maxRuns = 16;

const cleanUps: (() => Promise<void>)[] = [];
let log: string[] = [];
/** The chain of calls that led to each claim of a message. */
let looks: string[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  log = [];
  looks = [];
});

/** A gateway whose queues delay nothing: a message that is sent before its time is queued again immediately. */
async function startWithoutDelays(
  assembly: Pick<LocalGatewayOptions, "assemblyFolder" | "stackName">,
): Promise<LocalGateway> {
  const gateway = await startLocalGateway({
    ...assembly,
    port: 0,
    log: (line) => log.push(line),
    runsSchedules: false,
    interceptor: async (request, next) => {
      if (isLook(request)) looks.push(request.headers["x-amzn-trace-id"] ?? "none");
      return next({ ...request, body: request.body.replaceAll(/"DelaySeconds":\d+/g, '"DelaySeconds":0') });
    },
  });
  cleanUps.push(async () => gateway.stop());
  return gateway;
}

function isLook({ operation, functionName, body }: AwsRequest): boolean {
  return (
    operation === "dynamodb:GetItem" && functionName.startsWith("SendMessage") && body.includes('"MESSAGES#')
  );
}

/** A customer's message that is due in ten minutes. @returns a function that reads its status */
async function sendLater(gateway: LocalGateway): Promise<() => Promise<string>> {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { id } = await customer.send({ scheduledAt: new Date(Date.now() + 10 * minuteMs).toISOString() });
  return async () => (await customer.message(id)).status;
}

/** How many jobs of senders are parked. */
async function parkedSends(gateway: LocalGateway): Promise<string | undefined> {
  const name = outputNames.deadLetterQueueUrl("TransactionalSends");
  const sqs = new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false });
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: gateway.stack.outputs.find((output) => output.name === name)?.value,
      AttributeNames: ["ApproximateNumberOfMessages"],
    }),
  );
  sqs.destroy();
  return Attributes?.["ApproximateNumberOfMessages"];
}

it("a function that queues jobs for itself continues until it is done", async () => {
  const gateway = await startWithoutDelays(inject("assembly"));
  const statusOf = await sendLater(gateway);
  await vi.waitFor(() => expect(looks.length).toBeGreaterThan(2 * maxRuns), patience);
  gateway.advanceClock(10 * minuteMs);
  await vi.waitFor(async () => expect(await statusOf()).toBe("sent"), patience);
  expect(await parkedSends(gateway)).toBe("0");
});

it("Lambda ends one without that permission, and its job is parked", async () => {
  const assembly = await changedAssembly(inject("assembly"), ({ Properties }) => {
    if ("RecursiveLoop" in Properties) Properties["RecursiveLoop"] = "Terminate";
  });
  cleanUps.push(async () => rm(assembly.assemblyFolder, { recursive: true }));
  const gateway = await startWithoutDelays(assembly);
  const statusOf = await sendLater(gateway);
  await vi.waitFor(async () => expect(await parkedSends(gateway)).toBe("1"), patience);
  expect(looks.length).toBe(maxRuns);
  expect(await statusOf()).toBe("queued");
  expect(log.join("\n")).toMatch(
    /^Lambda ends loops: SendMessage\w+ has run 16 times in one chain of calls.* A job was moved to .*queuesForItself.*workers\.ts/m,
  );
});

it("jobs that are queued in a batch belong to the chain too", async () => {
  const gateway = await startWithoutDelays(inject("assembly"));
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  await importContacts(customer, 2);
  const { id } = await customer.client.createCampaign({
    body: { name: "Spring", message: "hello", audience: { all: true }, senderId: "ACME" },
  });
  await customer.client.launchCampaign({ params: { id } });
  await vi.waitFor(() => expect(looks.length).toBe(2), patience);
  for (const chain of looks) expect(chain).toMatch(/^Lineage=RunCampaign\w+:1\|SendMessage\w+:1$/);
});
