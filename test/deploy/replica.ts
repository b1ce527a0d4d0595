import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  paginateScan,
  PutItemCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";

import { timeToLiveField } from "../../infra/stack/constructs/gateway-table.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { outputOf } from "./stage-commands.ts";

/* The emulator has no replicas. These make what a replica has left in another region when the first one is lost. */

/** Copies a table to another region, under its name: its keys, its indexes, its settings and all its items. */
export async function replicate(TableName: string, region: string): Promise<void> {
  const here = new DynamoDBClient();
  const there = new DynamoDBClient({ region });
  const { Table } = await here.send(new DescribeTableCommand({ TableName }));
  await there.send(
    new CreateTableCommand({
      TableName,
      KeySchema: Table?.KeySchema,
      AttributeDefinitions: Table?.AttributeDefinitions,
      GlobalSecondaryIndexes: Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      })),
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  await waitUntilTableExists({ client: there, maxWaitTime: 60 }, { TableName });
  await setUp(TableName, there);
  for await (const { Items = [] } of paginateScan({ client: here }, { TableName, ConsistentRead: true }))
    await Promise.all(Items.map(async (Item) => there.send(new PutItemCommand({ TableName, Item }))));
}

/** Gives a table the settings without which no stage adopts it. */
export async function setUp(TableName: string, client: DynamoDBClient): Promise<void> {
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
  const TimeToLiveSpecification = { AttributeName: timeToLiveField, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
}

/** Creates a secret with the value of another one in another region. @returns its ARN */
export async function copySecret(SecretId: string, Name: string, region: string): Promise<string> {
  const { SecretString } = await new SecretsManagerClient().send(new GetSecretValueCommand({ SecretId }));
  const there = new SecretsManagerClient({ region });
  const { ARN = "" } = await there.send(new CreateSecretCommand({ Name, SecretString }));
  return ARN;
}

/** Returns whether a sender has deferred a job, as it does while sending is paused. */
export async function hasDeferredJob(stage: string): Promise<boolean> {
  const QueueUrl = await outputOf(stage, outputNames.queueUrl("transactionalSends"));
  const { Attributes } = await new SQSClient({ useQueueUrlAsEndpoint: false }).send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["ApproximateNumberOfMessagesDelayed"] }),
  );
  return Attributes?.ApproximateNumberOfMessagesDelayed === "1";
}
