import { randomUUID } from "node:crypto";

import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { inject } from "vitest";

import { localCredentials } from "../../infra/local/connections.ts";
import { localAccountId } from "../../infra/local/template.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { queueNames } from "../../shared/platform/jobs/queue-names.ts";

/*
 * Lets domain code run inside a test as it runs inside a function: on the emulators of the shared gateway, but
 * with queues of its own that nobody polls.
 */

process.env["AWS_REGION"] = "us-east-1";
process.env["AWS_ACCESS_KEY_ID"] = localCredentials.accessKeyId;
process.env["AWS_SECRET_ACCESS_KEY"] = localCredentials.secretAccessKey;
process.env["AWS_ENDPOINT_URL_DYNAMODB"] = inject("dynamodbEndpoint");
process.env["AWS_ENDPOINT_URL_SQS"] = inject("sqsEndpoint");
process.env[environmentNames.tableName] = inject("tableName");
process.env[environmentNames.topUpEnabled] = "true";
process.env[environmentNames.webhookTargets] = "any";
process.env[environmentNames.carrier] = "sandbox";

const sqs = new SQSClient({});
for (const queue of queueNames) {
  const QueueName = `${queue}-${randomUUID()}`;
  await sqs.send(new CreateQueueCommand({ QueueName }));
  process.env[environmentNames.queueUrl[queue]] = `${inject("sqsEndpoint")}/${localAccountId}/${QueueName}`;
}
