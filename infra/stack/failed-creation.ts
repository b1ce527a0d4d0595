import { setTimeout as delay } from "node:timers/promises";

import {
  DeleteStackCommand,
  DescribeStacksCommand,
  paginateListStackResources,
  UpdateTerminationProtectionCommand,
  type CloudFormationClient,
  type StackResourceSummary,
} from "@aws-sdk/client-cloudformation";
import {
  DeleteTableCommand,
  DynamoDBClient,
  paginateScan,
  UpdateTableCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";

/** The states of a stack whose creation failed. A failed update has other states, and its stack is never removed. */
export const failedCreation = /^ROLLBACK_(COMPLETE|FAILED)$/;

/** The only items that functions write on a stage without customers: by their schedules, and the email of each morning. */
const withoutCustomers = /^(RELEASE#|SENT_EMAIL#daily-)/;

const waitAtMost = { maxWaitTime: 1_800 };

/**
 * Removes a stack whose creation failed, so that it can be created again. The CDK cannot: it has protected the stack from
 * deletion. The table goes first, because its own protection is what a rollback fails at.
 * @param report prints what is done
 * @throws Error when a table of the stack has data, and then nothing is changed; or when AWS does not delete the stack
 */
export async function removeFailedCreation(
  StackName: string,
  client: CloudFormationClient,
  report: (text: string) => void,
): Promise<void> {
  const resources: StackResourceSummary[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
    resources.push(...StackResourceSummaries);
  const dynamodb = new DynamoDBClient({ region: await client.config.region() });
  const tables: string[] = [];
  for (const { ResourceType, PhysicalResourceId: name } of resources) {
    if (ResourceType !== "AWS::DynamoDB::GlobalTable" || name === undefined) continue;
    const content = await contentOf(name, dynamodb);
    if (content === "data") {
      throw new Error(
        `The creation of ${StackName} failed, but its table ${name} has data. Nothing was changed. To keep the data, delete ` +
          'the stack by "Destroy a stage on purpose" up to its step 4, then adopt the table (infra/RUNBOOK.md).',
      );
    }
    if (content === "none") tables.push(name);
  }
  report(`The creation of ${StackName} had failed, and no customer has data there. It is removed first.`);
  for (const TableName of tables) {
    await dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
    await waitUntilTableExists({ client: dynamodb, ...waitAtMost }, { TableName });
    await dynamodb.send(new DeleteTableCommand({ TableName }));
    await waitUntilTableNotExists({ client: dynamodb, ...waitAtMost }, { TableName });
    report(`The empty table ${TableName} is deleted.`);
  }
  await client.send(
    new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }),
  );
  await client.send(new DeleteStackCommand({ StackName }));
  await untilDeleted(StackName, client);
  const left = resources.filter(
    ({ ResourceStatus = "", PhysicalResourceId = "" }) =>
      ResourceStatus === "DELETE_SKIPPED" && !tables.includes(PhysicalResourceId),
  );
  if (left.length === 0) return;
  const names = left.map(
    ({ ResourceType, PhysicalResourceId = "without a name" }) => `${ResourceType} ${PhysicalResourceId}`,
  );
  report(
    `The rollback has kept these. The new stack adopts log groups. The others have no data, and can be deleted:\n${names.join("\n")}`,
  );
}

/** Waits for the deletion. The SDK's own waiter takes a state from before it for a failure. */
async function untilDeleted(StackName: string, client: CloudFormationClient): Promise<void> {
  const deadline = Date.now() + waitAtMost.maxWaitTime * 1_000;
  let state = await stateOf(StackName, client);
  while (state !== undefined && state !== "DELETE_COMPLETE") {
    if (state === "DELETE_FAILED" || Date.now() > deadline) {
      throw new Error(
        `AWS did not delete ${StackName}, which is in ${state}: see its events. Delete it in the console, then deploy again.`,
      );
    }
    await delay(5_000);
    state = await stateOf(StackName, client);
  }
}

/** Returns the state of a stack; undefined for one that does not exist. */
export async function stateOf(StackName: string, client: CloudFormationClient): Promise<string | undefined> {
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
    return Stacks?.[0]?.StackStatus;
  } catch (error) {
    // The error for a missing stack is a validation error without a type of its own.
    if (error instanceof Error && error.message.includes("does not exist")) return undefined;
    throw error;
  }
}

/** Returns what a table has. Functions of the failed attempt may have written to it. */
async function contentOf(TableName: string, client: DynamoDBClient): Promise<"data" | "no table" | "none"> {
  try {
    const scan = { TableName, ConsistentRead: true, ProjectionExpression: "pk" };
    for await (const { Items = [] } of paginateScan({ client }, scan)) {
      if (Items.some(({ pk }) => !withoutCustomers.test(pk?.S ?? ""))) return "data";
    }
    return "none";
  } catch (error) {
    if (error instanceof Error && error.name === "ResourceNotFoundException") return "no table";
    throw error;
  }
}
