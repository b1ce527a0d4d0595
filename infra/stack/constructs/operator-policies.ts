import { ArnFormat, Aws, Stack, Validations } from "aws-cdk-lib";
import { ManagedPolicy, PolicyDocument, PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

import { pendingWorkIndex } from "../../../shared/platform/table/pending-work-index.ts";
import { Access } from "../access.ts";
import { accessNameOf, partlyReadable, readableAttributes, roles, type Role } from "../operator-roles.ts";
import type { Backend } from "./backend.ts";
import {
  documentStatements,
  keyStatements,
  leadingKeys,
  readActions,
  statement,
  tableKeyActions,
  tableStatements,
} from "./gateway-function.ts";
import { pascalCase } from "./names.ts";

/**
 * Adds the policies for the people who operate the stage, one for each role. Their names begin with the stack's.
 * @param topicArns the topics of alarms, whose addressees the smoke test checks
 */
export function addOperatorPolicies(scope: Construct, backend: Backend, topicArns: readonly string[]): void {
  const { stackName } = Stack.of(scope);
  for (const role of roles) {
    const statements =
      role === "operator"
        ? [
            ...ofOperator(scope, backend),
            ...topicArns.map((topic) => statement(["sns:ListSubscriptionsByTopic"], topic)),
          ]
        : ofRole(scope, backend, role);
    const policy = new ManagedPolicy(scope, `${pascalCase(role)}Policy`, {
      managedPolicyName: `${stackName}-${role}`,
      description:
        role === "operator"
          ? "Permissions: all of a stage"
          : `Permissions: ${accessNameOf(role)} in infra/stack/permissions.txt`,
      document: new PolicyDocument({
        statements: [
          // AWS gives the stack's id as its ARN.
          statement(["cloudformation:DescribeStacks"], Aws.STACK_ID),
          ...statements,
        ],
      }),
    });
    if (role === "operator") acknowledgeWildcards(policy, backend);
  }
}

/** Allows what the lines of a role list. It may read some attributes of messages and API keys only. */
function ofRole(scope: Construct, { table, queues, documents }: Backend, role: Role): PolicyStatement[] {
  const access = new Access(accessNameOf(role));
  const partly = partlyReadable.filter((family) =>
    readActions.some((action) => access.familiesOf(action).includes(family)),
  );
  return [
    ...tableStatements(scope, table, access, partlyReadable),
    ...documentStatements(scope, documents, access),
    ...access.queues.map((queue) => statement(["sqs:SendMessage"], queues[queue].queue.queueArn)),
    ...(access.listsPendingWork
      ? [statement(["dynamodb:Query"], `${table.tableArn}/index/${pendingWorkIndex.name}`)]
      : []),
    statement(
      readActions.map((action) => `dynamodb:${action}`),
      table.tableArn,
      {
        "ForAllValues:StringLike": leadingKeys(partly),
        "ForAllValues:StringEquals": { "dynamodb:Attributes": readableAttributes },
        // Without a projection a request reads all attributes, and a missing key would satisfy `ForAllValues`.
        StringEquals: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
        Null: { "dynamodb:LeadingKeys": "false" },
      },
    ),
  ];
}

/** Allows all that a command needs, except to write the audit log or its seals, or to read the queue of its entries. */
function ofOperator(scope: Construct, { stage, table, queues, documents }: Backend): PolicyStatement[] {
  const onTable = (...actions: string[]): string[] => actions.map((action) => `dynamodb:${action}`);
  const { auditEntries, ...others } = queues;
  const arns = Object.values(others).flatMap(({ queue, deadLetters }) => [
    queue.queueArn,
    deadLetters.queueArn,
  ]);
  const sqs = [
    "ChangeMessageVisibility",
    "DeleteMessage",
    "GetQueueAttributes",
    "ReceiveMessage",
    "SendMessage",
  ];
  const secrets = ["CreateSecret", "DeleteSecret", "GetSecretValue", "PutSecretValue"];
  return [
    ...keyStatements(scope, "dynamodb", tableKeyActions, table),
    ...documentStatements(scope, documents, { may: (capability) => capability === "readDocuments" }),
    statement(onTable(...readActions), table.tableArn),
    statement(onTable("Query"), `${table.tableArn}/index/${pendingWorkIndex.name}`),
    statement(onTable("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem"), table.tableArn, {
      "ForAllValues:StringNotLike": leadingKeys(["AUDIT", "SEALS"]),
      Null: { "dynamodb:LeadingKeys": "false" },
    }),
    statement(["sqs:SendMessage"], auditEntries.queue.queueArn),
    statement(["sqs:GetQueueAttributes"], auditEntries.deadLetters.queueArn),
    new PolicyStatement({ actions: sqs.map((action) => `sqs:${action}`), resources: arns }),
    new PolicyStatement({
      actions: secrets.map((action) => `secretsmanager:${action}`),
      resources: [arnOf(scope, wildcards.secrets(scope))],
    }),
    ...(stage.carrier === "aws"
      ? [statement(["sms-voice:SendTextMessage"], arnOf(scope, wildcards.senders()))]
      : []),
  ];
}

/** The resources that change without a deployment: the secrets of carriers and payments, and the senders of messages. */
const wildcards = {
  secrets: (scope: Construct) => ["secretsmanager", `secret:${Stack.of(scope).stackName}/*`] as const,
  senders: () => ["sms-voice", "*"] as const,
};

function arnOf(scope: Construct, [service, resource]: readonly [string, string]): string {
  return Stack.of(scope).formatArn({ service, resource, arnFormat: ArnFormat.NO_RESOURCE_NAME });
}

function acknowledgeWildcards(policy: ManagedPolicy, { stage }: Backend): void {
  const { region = "<AWS::Region>", account = "<AWS::AccountId>" } = stage;
  for (const [service, resource] of [wildcards.secrets(policy), wildcards.senders()]) {
    Validations.of(policy).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:${service}:${region}:${account}:${resource}]`,
      reason:
        "The operator creates the secrets of carriers, and the senders of messages, without a deployment.",
    });
  }
}
