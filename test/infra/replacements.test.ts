import type { ResourceChange } from "@aws-sdk/client-cloudformation";
import { expect, it } from "vitest";

import { stopReason } from "../../infra/stack/replacements.ts";

const table = {
  LogicalResourceId: "TableCD117FA1",
  PhysicalResourceId: "sms-gateway-prod-TableCD117FA1-1RWJ5M7WPB3YK",
  ResourceType: "AWS::DynamoDB::GlobalTable",
} as const;
const key = {
  LogicalResourceId: "SessionSigningKeyD9F3A312",
  PhysicalResourceId: "4f7b6a52-9d0e-4a3c-8a44-0c6f4de2b5d1",
  ResourceType: "AWS::KMS::Key",
} as const;
const secret = {
  LogicalResourceId: "WebhookKeyFF363931",
  PhysicalResourceId: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:WebhookKeyFF363931-Qw3rTy-AbCdEf",
  ResourceType: "AWS::SecretsManager::Secret",
} as const;
const bucket = {
  LogicalResourceId: "Documents7E5B2978",
  PhysicalResourceId: "sms-gateway-prod-documents7e5b2978-kz1x0pq9w3ab",
  ResourceType: "AWS::S3::Bucket",
} as const;

/** Returns the change of one property, as CloudFormation describes it. */
function modified(
  resource: Pick<ResourceChange, "LogicalResourceId">,
  Name: string,
  RequiresRecreation: "Always" | "Conditionally" | "Never",
  rest: ResourceChange,
): ResourceChange {
  const Target = { Attribute: "Properties", Name, RequiresRecreation } as const;
  const detail = { Target, Evaluation: "Static", ChangeSource: "DirectModification" } as const;
  return { Action: "Modify", ...resource, Scope: ["Properties"], Details: [detail], ...rest };
}

/** Changes of each ordinary deployment. */
const ordinary: ResourceChange[] = [
  {
    Action: "Modify",
    LogicalResourceId: "SendMessageFunction4C2B1A0D",
    ResourceType: "AWS::Lambda::Function",
    Replacement: "False",
  },
  {
    Action: "Remove",
    PolicyAction: "Retain",
    LogicalResourceId: "SendMessageFunctionCurrentVersion5F2E",
    ResourceType: "AWS::Lambda::Version",
  },
  {
    Action: "Modify",
    LogicalResourceId: "ApiSmsNestedStack",
    ResourceType: "AWS::CloudFormation::Stack",
    Replacement: "Conditional",
  },
  {
    Action: "Remove",
    LogicalResourceId: "JobsQueue1B2C",
    ResourceType: "AWS::SQS::Queue",
    PolicyAction: "Delete",
  },
  // A release may add a bucket or a key, and change settings of others in place.
  { Action: "Add", LogicalResourceId: "Documents7E5B2978", ResourceType: "AWS::S3::Bucket" },
  modified(table, "Replicas", "Never", { Replacement: "False" }),
  modified(key, "KeyPolicy", "Never", { Replacement: "False" }),
  modified(secret, "Description", "Never", { Replacement: "False" }),
  { Action: "Import", LogicalResourceId: "WebhookKeyFF363931", ResourceType: "AWS::SecretsManager::Secret" },
];

it("does not stop an ordinary deployment", () => {
  expect(stopReason(ordinary, [])).toBeUndefined();
});

it.each<[string, string, ResourceChange[]]>([
  [
    "another sort key",
    "is replaced by an empty one and leaves the stack: KeySchema",
    [modified(table, "KeySchema", "Always", { Replacement: "True", PolicyAction: "ReplaceAndRetain" })],
  ],
  [
    "a table of a stage that does not keep its data",
    "is replaced by an empty one and is deleted: TableName",
    [modified(table, "TableName", "Always", { Replacement: "True", PolicyAction: "ReplaceAndDelete" })],
  ],
  [
    "a change that CloudFormation decides on later",
    "may be replaced by an empty one: AttributeDefinitions",
    [modified(table, "AttributeDefinitions", "Conditionally", { Replacement: "Conditional" })],
  ],
  ["a table that is deleted", "is deleted", [{ Action: "Remove", ...table, PolicyAction: "Delete" }]],
  [
    "another logical id of the table",
    "leaves the stack",
    [
      { Action: "Remove", ...table, PolicyAction: "Retain" },
      { Action: "Add", LogicalResourceId: "Ledger1A2B", ResourceType: "AWS::DynamoDB::GlobalTable" },
    ],
  ],
  [
    "a new table instead of an adopted one",
    "TableCD117FA1 (AWS::DynamoDB::GlobalTable, new) is empty, and replaces the present table",
    [{ Action: "Add", ...table, PhysicalResourceId: undefined }],
  ],
  ["another key of sessions", "leaves the stack", [{ Action: "Remove", ...key, PolicyAction: "Retain" }]],
  ["no bucket of invoices", "leaves the stack", [{ Action: "Remove", ...bucket, PolicyAction: "Retain" }]],
  [
    "another value of a key",
    "gets another value",
    [modified(secret, "GenerateSecretString", "Never", { Replacement: "False" })],
  ],
])("stops a deployment with %s", (_, loss, changes) => {
  const [{ LogicalResourceId: id = "", PhysicalResourceId: name } = {}] = changes;
  const reason = stopReason([...ordinary, ...changes], []);
  expect(reason).toContain(loss);
  expect(reason).toContain(name ?? "new");
  expect(reason).toContain(`--allow-replacement ${id}`);
  const ids = changes.map(({ LogicalResourceId = "" }) => LogicalResourceId);
  expect(stopReason([...ordinary, ...changes], ids)).toBeUndefined();
});

it("lets a stack release its table when the stage adopts another one, unless the table is deleted", () => {
  const released: ResourceChange = { Action: "Remove", ...table, PolicyAction: "Retain" };
  expect(stopReason([...ordinary, released], [])).toBeUndefined();
  expect(stopReason([...ordinary, { ...released, PolicyAction: "Delete" }], [])).toContain("is deleted");
});

it("names all losses, and allows only the named ones", () => {
  const changes: ResourceChange[] = [
    { Action: "Remove", ...table, PolicyAction: "Delete" },
    { Action: "Remove", ...bucket, PolicyAction: "Retain" },
  ];
  expect(stopReason(changes, [])).toContain(
    "--allow-replacement TableCD117FA1 --allow-replacement Documents7E5B2978",
  );
  const reason = stopReason(changes, [bucket.LogicalResourceId]);
  expect(reason).toContain(table.PhysicalResourceId);
  expect(reason).not.toContain(bucket.PhysicalResourceId);
});
