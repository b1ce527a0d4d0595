import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import type * as sdk from "@aws-sdk/client-sqs";
import { inject } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { localAccountId } from "../../infra/local/references.ts";
import { AwsCommand } from "../../shared/platform/aws/command.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { queueNames } from "../../shared/platform/queue-names.ts";

/** A Secrets Manager of a few lines, whose one secret seals those of webhooks. */
const secrets = createServer((_request, response) => {
  response.end(JSON.stringify({ SecretString: "the key of the webhooks of these tests" }));
});
const secretsUrl = `http://127.0.0.1:${await listenOnLoopback(secrets)}`;
// It must not keep the worker from its end.
secrets.unref();

class CreateQueueCommand extends AwsCommand<sdk.CreateQueueCommandInput, sdk.CreateQueueCommandOutput> {
  readonly operation = "CreateQueue";
}

/** Leads the code under test to a table, and to queues that this test file has for itself and no worker polls. */
export async function useEmulators({
  dynamodbEndpoint,
  sqsEndpoint,
}: {
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
}): Promise<void> {
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = dynamodbEndpoint;
  process.env["AWS_ENDPOINT_URL_SQS"] = sqsEndpoint;
  process.env["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = secretsUrl;
  process.env[environmentNames.tableName] = inject("table").name;
  const sqs = new Sqs();
  for (const queue of queueNames) {
    const QueueName = `${queue}-${randomUUID()}`;
    await sqs.send(new CreateQueueCommand({ QueueName }));
    process.env[environmentNames.queueUrl[queue]] = `${sqsEndpoint}/${localAccountId}/${QueueName}`;
  }
}
