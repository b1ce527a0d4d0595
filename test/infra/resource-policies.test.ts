import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { synthesized } from "../support/synthesized.ts";

/*
 * The access to queues, topics and keys of a stage, apart from that of its functions.
 */

let prod: Template;
let dev: Template;
beforeAll(() => {
  prod = synthesized(stageNamed("prod")).template;
  dev = synthesized(stageNamed("dev")).template;
});

const Ref = z.object({ Ref: z.string() });
const Policy = z.object({
  Properties: z.object({ PolicyDocument: z.object({ Statement: z.array(z.unknown()) }) }),
});
const withoutTls = { Bool: { "aws:SecureTransport": "false" } };

it("rejects requests to a queue without TLS", () => {
  const [policy, ...others] = Object.values(prod.findResources("AWS::SQS::QueuePolicy"));
  expect(others).toEqual([]);
  const queues = Object.keys(prod.findResources("AWS::SQS::Queue"));
  const ofPolicy = z.object({ Properties: z.object({ Queues: z.array(Ref) }) }).parse(policy)
    .Properties.Queues;
  expect(ofPolicy.map(({ Ref: id }) => id).toSorted()).toEqual(queues.toSorted());
  expect(Policy.parse(policy).Properties.PolicyDocument.Statement).toEqual([
    { Effect: "Deny", Principal: "*", Action: "sqs:*", Resource: "*", Condition: withoutTls },
    // The carrier's events of messages come only over its topic.
    {
      Effect: "Allow",
      Principal: { Service: "sns.amazonaws.com" },
      Action: "sqs:SendMessage",
      Resource: "*",
      Condition: { ArnEquals: { "aws:SourceArn": { Ref: expect.stringMatching(/^CarrierEventsTopic/) } } },
    },
  ]);
});

it("receives bounces if the stage names a configuration set, and lets SES use no other way", () => {
  const { email = { from: "sms@example.com", name: "SMS gateway" }, ...others } = stageNamed("prod");
  const stage = { ...others, email: { ...email, configurationSet: "transactional" } };
  const { template } = synthesized(stage);
  template.hasResourceProperties("AWS::SES::ConfigurationSetEventDestination", {
    ConfigurationSetName: "transactional",
    EventDestination: Match.objectLike({ Enabled: true, MatchingEventTypes: ["BOUNCE", "COMPLAINT"] }),
  });
  const pattern = {
    source: ["aws.ses"],
    "detail-type": ["Email Bounced", "Email Complaint Received"],
    detail: { mail: { tags: { "ses:configuration-set": ["transactional"] } } },
  };
  const [rule] = Object.keys(
    template.findResources("AWS::Events::Rule", { Properties: { EventPattern: pattern } }),
  );
  template.hasResourceProperties("AWS::Events::Rule", {
    EventPattern: pattern,
    Targets: [
      {
        Arn: { "Fn::GetAtt": [Match.stringLikeRegexp("^EmailsQueue"), "Arn"] },
        InputPath: "$.detail",
        Id: Match.anyValue(),
      },
    ],
  });
  template.hasResourceProperties("AWS::SQS::QueuePolicy", {
    PolicyDocument: {
      Statement: Match.arrayWith([
        {
          Effect: "Allow",
          Principal: { Service: "events.amazonaws.com" },
          Action: "sqs:SendMessage",
          Resource: "*",
          Condition: { ArnEquals: { "aws:SourceArn": { "Fn::GetAtt": [rule, "Arn"] } } },
        },
      ]),
    },
  });
  // SES requires the permission on both.
  const roles = JSON.stringify(template.findResources("AWS::IAM::Role"));
  const allowed = [
    ...roles.matchAll(/"ses:SendEmail","Condition":(.*?),"Effect":"Allow","Resource":(.*?\])\}/g),
  ];
  expect(allowed.map(([, condition]) => condition)).toEqual([
    '{"StringEquals":{"ses:FromAddress":"sms@example.com"}}',
    '{"StringEquals":{"ses:FromAddress":"sms@example.com"}}',
  ]);
  expect(roles).toContain(":identity/example.com");
  expect(roles).toContain(":configuration-set/transactional");
  template.hasResourceProperties("AWS::Lambda::Function", {
    Environment: { Variables: Match.objectLike({ EMAIL_CONFIGURATION_SET: "transactional" }) },
  });
});

it("lets the account's alarms publish to their topic, and only with TLS", () => {
  const topics = Object.keys(prod.findResources("AWS::SNS::Topic")).filter((id) => id.startsWith("Alarms"));
  expect(topics).toHaveLength(1);
  const policies = Object.values(prod.findResources("AWS::SNS::TopicPolicy"));
  const [policy, ...others] = policies.filter((each) => JSON.stringify(each).includes(`"${topics[0]}"`));
  expect(others).toEqual([]);
  expect(policy).toHaveProperty("Properties.Topics", [{ Ref: topics[0] }]);
  const statements = Policy.parse(policy).Properties.PolicyDocument.Statement;
  expect(statements).toContainEqual(
    expect.objectContaining({
      Effect: "Allow",
      Principal: { Service: "cloudwatch.amazonaws.com" },
      Action: "sns:Publish",
      Resource: { Ref: topics[0] },
      Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
    }),
  );
  expect(statements).toContainEqual(
    expect.objectContaining({
      Effect: "Deny",
      Principal: "*",
      Action: "sns:Publish",
      Resource: { Ref: topics[0] },
      Condition: withoutTls,
    }),
  );
});

it("keeps the session key of a stage that keeps its data, also when an update would replace it", () => {
  const key = (template: Template): unknown => {
    const [only, ...others] = Object.values(template.findResources("AWS::KMS::Key"));
    expect(others).toEqual([]);
    return only;
  };
  expect(key(prod)).toMatchObject({ DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" });
  expect(key(dev)).toMatchObject({ DeletionPolicy: "Delete" });
});
