import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { inject } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { localAccountId } from "../../infra/local/template.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { queueNames } from "../../shared/platform/jobs/queue-names.ts";

/*
 * Lets domain code run inside a test as it runs inside a function: on the emulators of the shared gateway, but
 * with queues of its own that nobody polls.
 */

process.env["AWS_ENDPOINT_URL_DYNAMODB"] = inject("dynamodbEndpoint");
process.env["AWS_ENDPOINT_URL_SQS"] = inject("sqsEndpoint");
process.env[environmentNames.tableName] = inject("table").name;

// A Secrets Manager of a few lines, whose one secret seals those of webhooks.
const secrets = createServer((_request, response) => {
  response.end(JSON.stringify({ SecretString: "the key of the webhooks of these tests" }));
});
process.env["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = `http://127.0.0.1:${await listenOnLoopback(secrets)}`;
// It must not keep the worker from its end.
secrets.unref();

const sqs = new SQSClient({});
for (const queue of queueNames) {
  const QueueName = `${queue}-${randomUUID()}`;
  await sqs.send(new CreateQueueCommand({ QueueName }));
  process.env[environmentNames.queueUrl[queue]] = `${inject("sqsEndpoint")}/${localAccountId}/${QueueName}`;
}
