import {
  CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  ListStackResourcesCommand,
  UpdateTerminationProtectionCommand,
  type StackResourceSummary,
} from "@aws-sdk/client-cloudformation";
import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  ScanCommand,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, describe, expect, it } from "vitest";

import { unconfirmed } from "../../infra/operator/alarm-addressees.ts";
import { failedCreation, removeFailedCreation } from "../../infra/stack/failed-creation.ts";

/* The removal of a stack whose creation failed, in the states of AWS that the emulator does not have. */

const cloudFormation = mockClient(CloudFormationClient);
const dynamodb = mockClient(DynamoDBClient);
const StackName = "sms-gateway-prod";
const missing = new ResourceNotFoundException({ message: "no table", $metadata: {} });

function resource(
  type: string,
  name: string,
  status: StackResourceSummary["ResourceStatus"],
): StackResourceSummary {
  return {
    LogicalResourceId: name,
    PhysicalResourceId: name,
    ResourceType: type,
    ResourceStatus: status,
    LastUpdatedTimestamp: new Date(),
  };
}

beforeEach(() => {
  cloudFormation.reset();
  dynamodb.reset();
  // A page has 100 resources, and the table is on the second one.
  cloudFormation
    .on(ListStackResourcesCommand)
    .resolvesOnce({
      StackResourceSummaries: [resource("AWS::Logs::LogGroup", "logs", "DELETE_SKIPPED")],
      NextToken: "2",
    })
    .resolves({ StackResourceSummaries: [resource("AWS::DynamoDB::GlobalTable", "table", "DELETE_FAILED")] });
  cloudFormation.on(DescribeStacksCommand).rejects(new Error(`Stack with id ${StackName} does not exist`));
  dynamodb
    .on(DescribeTableCommand)
    .resolvesOnce({ Table: { TableStatus: "ACTIVE" } })
    .rejects(missing);
});

async function remove(): Promise<string[]> {
  const said: string[] = [];
  await removeFailedCreation(StackName, new CloudFormationClient({ region: "us-east-1" }), (text) =>
    said.push(text),
  );
  return said;
}

describe("a stack whose creation failed", () => {
  it("is removed with its empty table, whose protection the rollback has failed at", async () => {
    const items = ["RELEASE#due-jobs", "SENT_EMAIL#daily-2026-11-30"].map((pk) => ({ pk: { S: pk } }));
    dynamodb.on(ScanCommand).resolves({ Items: items });
    expect(await remove()).toEqual([
      expect.stringContaining("no customer has data there"),
      "The empty table table is deleted.",
      expect.stringContaining("AWS::Logs::LogGroup logs"),
    ]);
    const ofTable = [
      ...dynamodb.commandCalls(UpdateTableCommand),
      ...dynamodb.commandCalls(DeleteTableCommand),
    ];
    expect(ofTable.map(({ args: [{ input }] }) => input)).toEqual([
      { TableName: "table", DeletionProtectionEnabled: false },
      { TableName: "table" },
    ]);
    expect(cloudFormation.commandCalls(UpdateTerminationProtectionCommand)).toHaveLength(1);
    expect(cloudFormation.commandCalls(DeleteStackCommand)).toHaveLength(1);
  });

  it.each(["ORG#org_1", "USER#usr_1", "PRICES#1", "SENT_EMAIL#eml_1"])(
    "stays as it is with an item %s",
    async (pk) => {
      dynamodb
        .on(ScanCommand)
        .resolvesOnce({ Items: [], LastEvaluatedKey: { pk: { S: "A" } } })
        .resolves({
          Items: [{ pk: { S: pk } }],
        });
      await expect(remove()).rejects.toThrow("its table table has data. Nothing was changed.");
      expect(dynamodb.commandCalls(UpdateTableCommand)).toEqual([]);
      expect(dynamodb.commandCalls(DeleteTableCommand)).toEqual([]);
      expect(cloudFormation.commandCalls(UpdateTerminationProtectionCommand)).toEqual([]);
      expect(cloudFormation.commandCalls(DeleteStackCommand)).toEqual([]);
    },
  );

  it("is removed where the rollback has deleted the table", async () => {
    dynamodb.on(ScanCommand).rejects(missing);
    await remove();
    expect(dynamodb.commandCalls(DeleteTableCommand)).toEqual([]);
    expect(cloudFormation.commandCalls(DeleteStackCommand)).toHaveLength(1);
  });

  it("is reported if AWS does not delete it, or the table cannot be read", async () => {
    dynamodb.on(ScanCommand).rejects(missing);
    cloudFormation.on(DescribeStacksCommand).resolves({
      Stacks: [{ StackName, CreationTime: new Date(), StackStatus: "DELETE_FAILED" }],
    });
    await expect(remove()).rejects.toThrow("AWS did not delete sms-gateway-prod, which is in DELETE_FAILED");
    cloudFormation.resetHistory();
    dynamodb.on(ScanCommand).rejects(new Error("AccessDeniedException"));
    await expect(remove()).rejects.toThrow("AccessDenied");
    expect(cloudFormation.commandCalls(DeleteStackCommand)).toEqual([]);
  });

  it("has other states than a failed update, or than a stack that lives", () => {
    const states = [
      "ROLLBACK_COMPLETE",
      "ROLLBACK_FAILED",
      "UPDATE_ROLLBACK_COMPLETE",
      "UPDATE_ROLLBACK_FAILED",
    ];
    const others = ["CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_FAILED", "IMPORT_ROLLBACK_COMPLETE"];
    expect([...states, ...others].filter((state) => failedCreation.test(state))).toEqual(states.slice(0, 2));
  });
});

it("an addressee of alarms without a confirmed subscription is found, also after SNS has deleted it", () => {
  const arn = "arn:aws:sns:us-east-1:123456789012:alarms:1";
  const emails = ["one@sms.example", "two@sms.example", "three@sms.example"];
  const subscriptions = [
    { SubscriptionArn: arn, Endpoint: "one@sms.example" },
    { SubscriptionArn: "PendingConfirmation", Endpoint: "two@sms.example" },
  ];
  expect(unconfirmed(emails, subscriptions)).toEqual(emails.slice(1));
  expect(unconfirmed([], subscriptions)).toEqual([]);
});
