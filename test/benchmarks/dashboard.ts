import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";

import { startLocalGateway } from "../../infra/local/gateway.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { localAccountId, localRegion } from "../../infra/local/template.ts";
import { Session } from "../../shared/contract/accounts.ts";
import { acceptTogether, maxAcceptedTogether, newMessage } from "../../shared/messages/accept.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { queueNames } from "../../shared/platform/jobs/queue-names.ts";

// `npm run bench:dashboard`: how long GET /v1/dashboard/stats takes for a customer with 1,000 messages and for one
// with 100,000, asked in turns so that both meet the same noise.

const messageCounts = [1_000, 100_000];
const rounds = 500;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const gateway = await startLocalGateway({
  ...(await synthesizeLocalStack()),
  port: 0,
  log: () => undefined,
});

process.env["AWS_REGION"] = localRegion;
process.env["AWS_ACCESS_KEY_ID"] = "local";
process.env["AWS_SECRET_ACCESS_KEY"] = "local";
process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
process.env["AWS_ENDPOINT_URL_SQS"] = gateway.sqsEndpoint;
process.env[environmentNames.tableName] = gateway.stack.table.name;
// Queues that nobody works on: the messages are only there to be many.
for (const queue of queueNames) {
  const QueueName = `benchmark-${queue}`;
  await new SQSClient({}).send(new CreateQueueCommand({ QueueName }));
  process.env[environmentNames.queueUrl[queue]] = `${gateway.sqsEndpoint}/${localAccountId}/${QueueName}`;
}

async function post(path: string, body: unknown, token?: string): Promise<unknown> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return Object(await response.json())["data"];
}

const customers = [];
for (const count of messageCounts) {
  const email = `customer-${count}@example.com`;
  const { token, organization } = Session.parse(
    await post("/v1/auth/register", { email, password: "correct horse" }),
  );
  await post("/v1/wallet/top-up", { amount: 10_000 }, token);
  for (let accepted = 0; accepted < count; accepted += maxAcceptedTogether) {
    const at = new Date();
    const block = Array.from({ length: Math.min(maxAcceptedTogether, count - accepted) }, () =>
      newMessage(
        organization.id,
        { to: "15005550000", message: "hello", senderId: "ACME", language: "English" },
        at,
      ),
    );
    await acceptTogether(block, []);
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
process.exit(0);
