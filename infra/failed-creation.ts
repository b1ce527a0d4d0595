import {
  DeleteStackCommand,
  DescribeStackResourcesCommand,
  UpdateTerminationProtectionCommand,
  waitUntilStackDeleteComplete,
  type CloudFormationClient,
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

/** The only items that functions write on a stage without customers: their schedules can run before the creation fails. */
const ofSchedules = "RELEASE#";

const waitAtMost = { maxWaitTime: 1_800 };

/**
 * Removes a stack whose creation failed, so that it can be created again. The CDK cannot: it has protected the stack from
 * deletion. The table goes first, because its own protection is what a rollback fails at.
 * @param report prints what is done
 * @throws Error when a table of the stack has data; then nothing is changed
 */
export async function removeFailedCreation(
  StackName: string,
  client: CloudFormationClient,
  report: (text: string) => void,
): Promise<void> {
  const { StackResources = [] } = await client.send(new DescribeStackResourcesCommand({ StackName }));
  const dynamodb = new DynamoDBClient({ region: await client.config.region() });
  const tables: string[] = [];
  for (const { ResourceType, PhysicalResourceId: name } of StackResources) {
    if (ResourceType !== "AWS::DynamoDB::GlobalTable" || name === undefined) continue;
    const content = await contentOf(name, dynamodb);
    if (content === "data") {
      throw new Error(
        `The creation of ${StackName} failed, but its table ${name} has data. Nothing was changed: see "Adopt a table" in ` +
          "infra/RUNBOOK.md.",
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
  }
  await client.send(
    new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }),
  );
  await client.send(new DeleteStackCommand({ StackName }));
  await waitUntilStackDeleteComplete({ client, ...waitAtMost }, { StackName });
  const left = StackResources.filter(
    ({ ResourceStatus = "", PhysicalResourceId = "" }) =>
      /^DELETE_(SKIPPED|FAILED)$/.test(ResourceStatus) && !tables.includes(PhysicalResourceId),
  );
  if (left.length === 0) return;
  const names = left.map(
    ({ ResourceType, PhysicalResourceId = "without a name" }) => `${ResourceType} ${PhysicalResourceId}`,
  );
  report(
    `These remain. The new stack adopts log groups. The others have no data, and can be deleted:\n${names.join("\n")}`,
  );
}

/** Returns what a table has. The schedules of an earlier attempt may have written their place. */
async function contentOf(TableName: string, client: DynamoDBClient): Promise<"data" | "no table" | "none"> {
  try {
    const scan = { TableName, ConsistentRead: true, ProjectionExpression: "pk" };
    for await (const { Items = [] } of paginateScan({ client }, scan)) {
      if (Items.some(({ pk }) => pk?.S?.startsWith(ofSchedules) !== true)) return "data";
    }
    return "none";
  } catch (error) {
    if (error instanceof Error && error.name === "ResourceNotFoundException") return "no table";
    throw error;
  }
}
