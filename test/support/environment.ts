import { randomUUID } from "node:crypto";

import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { inject } from "vitest";

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

const sqs = new SQSClient({});
for (const queue of queueNames) {
  const QueueName = `${queue}-${randomUUID()}`;
  await sqs.send(new CreateQueueCommand({ QueueName }));
  process.env[environmentNames.queueUrl[queue]] = `${inject("sqsEndpoint")}/${localAccountId}/${QueueName}`;
}
