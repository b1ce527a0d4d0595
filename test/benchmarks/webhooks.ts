import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod";

import { startLocalGateway } from "../../infra/local/gateway.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { localAccountId, localRegion } from "../../infra/local/template.ts";
import { newId } from "../../shared/platform/ids.ts";
import type { WebhookJob } from "../../shared/webhooks/webhook-job.ts";

// `npm run bench:webhooks`: how much longer one customer's webhook calls take while another customer's endpoint
// hangs on every call. The events go straight to the queue, as `announce` puts them there, so that what is
// measured is the delivery and not the sending of messages.

const eventCount = 500;
const rounds = 3;
const hangMs = 10_000;
const waitTimeoutMs = 120_000;
const pollMs = 20;
const allowedRatio = 2;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const gateway = await startLocalGateway({
  ...(await synthesizeLocalStack()),
  port: 0,
  log: () => undefined,
});
const sqs = new SQSClient({
  region: localRegion,
  endpoint: gateway.sqsEndpoint,
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});
try {
  const healthy = await startReceiver(0);
  const customer = await registerCustomer(healthy.url);
  // The first calls start the function's thread.
  await announceAll(eventsOf(customer.organizationId, 50));
  await healthy.waitFor(50);

  const total = { aloneMs: 0, besideMs: 0 };
  // Several rounds, so that what else the machine has to do meets both sides.
  for (let round = 1; round <= rounds; round += 1) {
    const aloneMs = await measure(healthy, eventsOf(customer.organizationId, eventCount));
    const hanging = await startReceiver(hangMs);
    const other = await registerCustomer(hanging.url);
    const others = eventsOf(other.organizationId, eventCount);
    const besideMs = await measure(
      healthy,
      // One of each in turn, as two customers who send at the same time.
      eventsOf(customer.organizationId, eventCount).flatMap((event, index) => [
        ...others.slice(index, index + 1),
        event,
      ]),
    );
    print(
      `${eventCount} events alone: ${aloneMs} ms; beside ${eventCount} to an endpoint that hangs for ` +
        `${hangMs} ms: ${besideMs} ms (it was called ${hanging.received()} times)`,
    );
    await other.removeWebhook();
    hanging.stop();
    total.aloneMs += aloneMs;
    total.besideMs += besideMs;
  }
  const ratio = total.besideMs / total.aloneMs;
  print(`ratio: ${ratio.toFixed(2)} (at most ${allowedRatio})`);
  if (ratio > allowedRatio) process.exitCode = 1;
  healthy.stop();
} finally {
  await gateway.stop();
}

interface Receiver {
  readonly url: string;
  received(): number;
  waitFor(count: number): Promise<void>;
  stop(): void;
}

async function startReceiver(answerAfterMs: number): Promise<Receiver> {
  const calls: number[] = [];
  const server = createServer((request, response) => {
    calls.push(Date.now());
    request.resume();
    setTimeout(() => response.writeHead(204).end(), answerAfterMs).unref();
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    received: () => calls.length,
    waitFor: async (expected) => {
      const deadline = Date.now() + waitTimeoutMs;
      while (calls.length < expected) {
        if (Date.now() > deadline) throw new Error(`${calls.length} of ${expected} calls came`);
        await delay(pollMs);
      }
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function measure(receiver: Receiver, jobs: readonly WebhookJob[]): Promise<number> {
  const target = receiver.received() + eventCount;
  const start = Date.now();
  await announceAll(jobs);
  await receiver.waitFor(target);
  return Date.now() - start;
}

interface Subscriber {
  readonly organizationId: string;
  removeWebhook(): Promise<void>;
}

/** Registers a customer with one webhook. */
async function registerCustomer(url: string): Promise<Subscriber> {
  const { token, organization } = await call(
    "POST",
    "/v1/auth/register",
    z.object({ token: z.string(), organization: z.object({ id: z.string() }) }),
    { json: { email: `${newId("usr")}@example.com`, password: "correct horse battery" } },
  );
  const { id } = await call("POST", "/v1/webhooks", z.object({ id: z.string() }), { token, json: { url } });
  return {
    organizationId: organization.id,
    removeWebhook: async () => {
      await call("DELETE", `/v1/webhooks/${id}`, z.unknown(), { token });
    },
  };
}

async function call<Data>(
  method: string,
  path: string,
  schema: z.ZodType<Data>,
  { token = "", json }: { token?: string; json?: unknown },
): Promise<Data> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return z.object({ data: schema }).parse(await response.json()).data;
}

function eventsOf(organizationId: string, count: number): WebhookJob[] {
  return Array.from({ length: count }, () => {
    const id = newId("msg");
    return {
      kind: "event",
      organizationId,
      eventId: id.replace("msg_", "evt_"),
      event: {
        event: "message.sent",
        timestamp: new Date().toISOString(),
        data: { id, to: "15005550000", status: "sent" },
      },
    };
  });
}

async function announceAll(jobs: readonly WebhookJob[]): Promise<void> {
  const queue = gateway.stack.queues.find(({ name }) => /WebhookDeliveries(?!.*Dead)/.test(name));
  if (queue === undefined) throw new Error("the stack has no queue of webhook deliveries");
  const QueueUrl = `${gateway.sqsEndpoint}/${localAccountId}/${queue.name}`;
  for (let start = 0; start < jobs.length; start += 10) {
    await sqs.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: jobs.slice(start, start + 10).map((job, index) => ({
          Id: String(index),
          MessageBody: JSON.stringify(job),
          MessageGroupId: job.organizationId,
        })),
      }),
    );
  }
}
