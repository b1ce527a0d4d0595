import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { localAccountId } from "../../infra/local/references.ts";
import { listenOnLoopback } from "../../infra/loopback.ts";
import { createClient } from "../../shared/api/client/client.ts";
import { eventJob } from "../../shared/notices/event-job.ts";
import { newId } from "../../shared/platform/ids.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { print, startBenchmarkGateway } from "./gateway.ts";

// `npm run bench -- webhooks`: how much longer one customer's webhook calls take while another customer's endpoint
// hangs on every call. The events go directly to the queue, as `announce` sends them. The suite
// therefore measures the delivery and not the sending of messages.

const eventCount = 500;
const rounds = 3;
const hangMs = 10_000;
const waitTimeoutMs = 120_000;
const pollMs = 20;
const allowedRatio = 2;

/**
 * Measures the calls of one customer's webhook, alone and beside those of another's.
 * @returns whether the ratio is allowed
 */
export async function benchmarkWebhooks(): Promise<boolean> {
  const gateway = await startBenchmarkGateway();
  try {
    const healthy = await startReceiver(0);
    const customer = await registerCustomer(gateway, healthy.url);
    // The first calls start the function's thread.
    await announceAll(gateway, eventsOf(customer.organizationId, 50));
    await healthy.waitFor(50);

    const total = { aloneMs: 0, besideMs: 0 };
    // Several rounds, so that the other work of the machine affects both.
    for (let round = 1; round <= rounds; round += 1) {
      const aloneMs = await measure(gateway, healthy, eventsOf(customer.organizationId, eventCount));
      const hanging = await startReceiver(hangMs);
      const other = await registerCustomer(gateway, hanging.url);
      const others = eventsOf(other.organizationId, eventCount);
      const besideMs = await measure(
        gateway,
        healthy,
        // One of each alternately, as of two customers who send at the same time.
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
    healthy.stop();
    return ratio <= allowedRatio;
  } finally {
    await gateway.stop();
  }
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

async function measure(
  gateway: LocalGateway,
  receiver: Receiver,
  jobs: readonly WebhookJob[],
): Promise<number> {
  const target = receiver.received() + eventCount;
  const start = Date.now();
  await announceAll(gateway, jobs);
  await receiver.waitFor(target);
  return Date.now() - start;
}

interface Subscriber {
  readonly organizationId: string;
  removeWebhook(): Promise<void>;
}

/** Registers a customer with one webhook. */
async function registerCustomer(gateway: LocalGateway, url: string): Promise<Subscriber> {
  const { token, organization } = await createClient({ baseUrl: gateway.url }).register({
    body: { email: `${newId("usr")}@example.com`, password: "correct horse battery" },
  });
  const client = createClient({ baseUrl: gateway.url, credential: token });
  const { id } = await client.createWebhook({ body: { url } });
  return {
    organizationId: organization.id,
    removeWebhook: async () => {
      await client.deleteWebhook({ params: { id } });
    },
  };
}

function eventsOf(organizationId: string, count: number): WebhookJob[] {
  return Array.from({ length: count }, () => {
    const id = newId("msg");
    const timestamp = new Date().toISOString();
    const data = { id, to: "15005550000", status: "sent" } as const;
    return WebhookJob.parse(eventJob(organizationId, { event: "message.sent", timestamp, data }).body);
  });
}

async function announceAll(gateway: LocalGateway, jobs: readonly WebhookJob[]): Promise<void> {
  const queue = gateway.stack.queues.find(({ name }) => /WebhookDeliveries(?!.*Dead)/.test(name));
  if (queue === undefined) throw new Error("the stack has no queue of webhook deliveries");
  const QueueUrl = `${gateway.sqsEndpoint}/${localAccountId}/${queue.name}`;
  const sqs = new SQSClient({});
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
