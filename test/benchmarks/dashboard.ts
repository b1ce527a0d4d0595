import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";

import { localAccountId } from "../../infra/local/references.ts";
import { createClient } from "../../shared/api/client/client.ts";
import { acceptTogether, maxAcceptedTogether, newMessage } from "../../shared/messages/accept/accept.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { queueNames } from "../../shared/platform/queue-names.ts";
import { onePrice } from "../support/prices.ts";
import { print, startBenchmarkGateway } from "./gateway.ts";

// `npm run bench -- dashboard`: the time of GET /v1/dashboard/stats for a customer with 1,000 messages and for one
// with 100,000. The calls alternate, so that both meet the same noise.

const messageCounts = [1_000, 100_000];
const rounds = 500;

/**
 * Measures both customers' dashboards.
 * @returns true: it asserts nothing
 */
export async function benchmarkDashboard(): Promise<boolean> {
  const gateway = await startBenchmarkGateway();
  // Queues without workers: only the number of messages counts.
  for (const queue of queueNames) {
    const QueueName = `benchmark-${queue}`;
    await new SQSClient({}).send(new CreateQueueCommand({ QueueName }));
    process.env[environmentNames.queueUrl[queue]] = `${gateway.sqsEndpoint}/${localAccountId}/${QueueName}`;
  }

  const customers = [];
  for (const count of messageCounts) {
    const email = `customer-${count}@example.com`;
    const { token, organization } = await createClient({ baseUrl: gateway.url }).register({
      body: { email, password: "correct horse" },
    });
    const client = createClient({ baseUrl: gateway.url, credential: token });
    await client.topUpWallet({ body: { amount: 10_000 } });
    for (let accepted = 0; accepted < count; accepted += maxAcceptedTogether) {
      const at = new Date();
      const block = Array.from({ length: Math.min(maxAcceptedTogether, count - accepted) }, () =>
        newMessage(
          organization.id,
          { to: "15005550000", message: "hello", senderId: "ACME", language: "English" },
          { queuedAt: at, prices: onePrice },
        ),
      );
      await acceptTogether(block, () => []);
    }
    print(`a customer with ${count} messages is ready`);
    customers.push({ count, token, durationsMs: [] as number[] });
  }

  for (let round = 0; round < rounds; round += 1) {
    for (const { token, durationsMs } of customers) {
      const startedAt = performance.now();
      const response = await fetch(`${gateway.url}/v1/dashboard/stats`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      await response.text();
      durationsMs.push(performance.now() - startedAt);
    }
  }
  for (const { count, durationsMs } of customers) {
    const sorted = durationsMs.toSorted((a, b) => a - b);
    const quantile = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
    print(`${count} messages: median ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms over ${rounds} calls`);
  }
  await gateway.stop();
  return true;
}
