import { readFile } from "node:fs/promises";
import path from "node:path";

import { Assets, flatTemplate } from "@sms-gateway/stack/nested-stacks.ts";
import * as z from "zod/mini";

import { arnOf, functionIn, resolver, Template, type LocalUrls } from "./references.ts";

/*
 * Reads a synthesized stack as CloudFormation does: resolves references and returns the resources that the local gateway
 * runs. Resources of other types, such as alarms, have no local counterpart.
 */

const OneOrMany = z.pipe(
  z.union([z.string(), z.array(z.string())]),
  z.transform((value) => [value].flat()),
);

const LeadingKeys = z.strictObject({ "dynamodb:LeadingKeys": OneOrMany });

export const Condition = z.strictObject({
  "ForAllValues:StringLike": z.optional(LeadingKeys),
  "ForAllValues:StringNotLike": z.optional(LeadingKeys),
  "ForAnyValue:StringLike": z.optional(LeadingKeys),
  "ForAllValues:StringEquals": z.optional(z.strictObject({ "dynamodb:Attributes": z.array(z.string()) })),
  StringEquals: z.optional(
    z.union([
      z.strictObject({ "dynamodb:Select": z.literal("SPECIFIC_ATTRIBUTES") }),
      z.strictObject({ "ses:FromAddress": z.string() }),
    ]),
  ),
  Null: z.optional(z.strictObject({ "dynamodb:LeadingKeys": z.literal("false") })),
});
export type Condition = z.infer<typeof Condition>;

const Statement = z.strictObject({
  Effect: z.literal("Allow"),
  Action: OneOrMany,
  Resource: OneOrMany,
  // Other conditions are errors, because permissions.ts does not support them.
  Condition: z.optional(Condition),
});
export type Statement = z.infer<typeof Statement>;

const KeySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));

// The properties that cors.ts supports.
const CorsConfiguration = z.strictObject({
  AllowOrigins: z.array(z.string()),
  AllowMethods: z.array(z.string()),
  AllowHeaders: z.array(z.string()),
  ExposeHeaders: z.array(z.string()),
  MaxAge: z.int(),
});
export type CorsConfiguration = z.infer<typeof CorsConfiguration>;

const resourceSchemas = {
  table: z.object({
    AttributeDefinitions: z.array(
      z.object({ AttributeName: z.string(), AttributeType: z.enum(["B", "N", "S"]) }),
    ),
    KeySchema,
    GlobalSecondaryIndexes: z.array(
      z.object({
        IndexName: z.string(),
        KeySchema,
        Projection: z.object({ ProjectionType: z.literal("KEYS_ONLY") }),
      }),
    ),
  }),
  expiry: z.object({
    TimeToLiveSpecification: z.optional(z.object({ AttributeName: z.string(), Enabled: z.boolean() })),
  }),
  queue: z.object({
    VisibilityTimeout: z.optional(z.int()),
    MessageRetentionPeriod: z.optional(z.int()),
    RedrivePolicy: z.optional(z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.int() })),
  }),
  policy: z.object({
    ManagedPolicyName: z.string(),
    Description: z.string(),
    PolicyDocument: z.object({ Statement: z.array(Statement) }),
  }),
  role: z.object({
    Policies: z._default(
      z.array(z.object({ PolicyDocument: z.object({ Statement: z.array(Statement) }) })),
      [],
    ),
  }),
  function: z.object({
    Description: z.string(),
    Code: z.object({ S3Key: z.string() }),
    Handler: z.literal("index.handler"),
    Environment: z.object({ Variables: z.record(z.string(), z.string()) }),
    Timeout: z.int(),
    MemorySize: z.int(),
    RecursiveLoop: z._default(z.enum(["Allow", "Terminate"]), "Terminate"),
    Role: z.string(),
  }),
  api: z.object({ CorsConfiguration: z.optional(CorsConfiguration) }),
  route: z.object({ RouteKey: z.string(), Target: z.string() }),
  integration: z.object({ IntegrationUri: z.string() }),
  eventSource: z.object({
    EventSourceArn: z.string(),
    FunctionName: z.string(),
    BatchSize: z.int(),
    FunctionResponseTypes: z.array(z.literal("ReportBatchItemFailures")),
    ScalingConfig: z.object({ MaximumConcurrency: z.int() }),
  }),
  rule: z.object({
    ScheduleExpression: z.string(),
    Targets: z.array(z.object({ Arn: z.string(), Input: z.optional(z.string()) })),
  }),
  secret: z.object({ GenerateSecretString: z.object({ PasswordLength: z.int() }) }),
  // The kind of key that local-aws.ts supports.
  signingKey: z.object({ KeySpec: z.literal("ECC_NIST_P256"), KeyUsage: z.literal("SIGN_VERIFY") }),
};

export interface FunctionDefinition {
  readonly name: string;
  /** A text that names the file with its permissions. */
  readonly description: string;
  readonly bundleFile: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Whether it may run any number of times in one chain of calls. */
  readonly queuesForItself: boolean;
  readonly statements: readonly Statement[];
}

export interface ScheduleDefinition {
  readonly expression: string;
  readonly functionName: string;
  /** The function's event, if it is not EventBridge's own. */
  readonly input?: unknown;
}

export type StackDefinition = Awaited<ReturnType<typeof readStack>>;

/**
 * Reads the stack that `npm run synth` or the local gateway has written to a folder.
 * @param urls of AWS for the functions, with which queue URLs begin, and of the API
 */
export async function readStack(assemblyFolder: string, stackName: string, urls: LocalUrls) {
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(path.join(assemblyFolder, file), "utf8"));
  const template = Template.parse(flatTemplate(assemblyFolder, stackName));
  const assets = Assets.parse(await read(`${stackName}.assets.json`));
  const resolve = resolver(template, urls);
  const resources = resourceReader(template, resolve);

  const [table] = resources("AWS::DynamoDB::GlobalTable", resourceSchemas.table);
  const [expiry] = resources("AWS::DynamoDB::GlobalTable", resourceSchemas.expiry);
  if (table === undefined || expiry === undefined) throw new Error(`${stackName} has no table`);
  const roles = new Map(
    resources("AWS::IAM::Role", resourceSchemas.role).map((role) => [
      role.arn,
      role.properties.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
    ]),
  );
  const integrations = new Map(
    resources("AWS::ApiGatewayV2::Integration", resourceSchemas.integration).map((integration) => [
      `integrations/${integration.name}`,
      functionIn(integration.properties.IntegrationUri),
    ]),
  );
  return {
    table: { name: table.name, ...table.properties },
    /** The attribute by which items expire, if any. */
    expiry: expiry.properties,
    /** Dead-letter queues come before the queues that refer to them. */
    queues: resources("AWS::SQS::Queue", resourceSchemas.queue)
      .map(({ name, arn, properties }) => ({
        name,
        arn,
        attributes: queueAttributes(properties),
        /** Its dead-letter queue, if it has one. */
        deadLettersArn: properties.RedrivePolicy?.deadLetterTargetArn,
      }))
      .toSorted((a, b) => Number("RedrivePolicy" in a.attributes) - Number("RedrivePolicy" in b.attributes)),
    functions: resources("AWS::Lambda::Function", resourceSchemas.function).map(
      ({ name, properties }): FunctionDefinition => {
        const asset = assets.files[properties.Code.S3Key.replace(/\.zip$/, "")];
        if (asset === undefined) throw new Error(`${name} has no bundle among the stack's assets`);
        return {
          name,
          description: properties.Description,
          bundleFile: path.join(assemblyFolder, asset.source.path, "index.mjs"),
          environment: properties.Environment.Variables,
          timeoutSeconds: properties.Timeout,
          memoryMegabytes: properties.MemorySize,
          queuesForItself: properties.RecursiveLoop === "Allow",
          statements: roles.get(properties.Role) ?? [],
        };
      },
    ),
    /** The policies of the people who operate the stage. */
    policies: resources("AWS::IAM::ManagedPolicy", resourceSchemas.policy).map(({ properties }) => ({
      name: properties.ManagedPolicyName,
      description: properties.Description,
      statements: properties.PolicyDocument.Statement,
    })),
    /** Allowed origins of other sites; by default none. */
    cors: resources("AWS::ApiGatewayV2::Api", resourceSchemas.api)[0]?.properties.CorsConfiguration,
    routes: resources("AWS::ApiGatewayV2::Route", resourceSchemas.route).map(({ properties }) => {
      const functionName = integrations.get(properties.Target);
      if (functionName === undefined) throw new Error(`${properties.RouteKey} leads to no function`);
      return { routeKey: properties.RouteKey, functionName };
    }),
    eventSources: resources("AWS::Lambda::EventSourceMapping", resourceSchemas.eventSource).map(
      ({ properties }) => ({
        queueArn: properties.EventSourceArn,
        functionName: functionIn(properties.FunctionName),
        batchSize: properties.BatchSize,
        maxConcurrency: properties.ScalingConfig.MaximumConcurrency,
      }),
    ),
    schedules: resources("AWS::Events::Rule", resourceSchemas.rule).flatMap(({ properties }) =>
      properties.Targets.map(({ Arn, Input }): ScheduleDefinition => ({
        expression: properties.ScheduleExpression,
        functionName: functionIn(Arn),
        ...(Input === undefined ? {} : { input: JSON.parse(Input) }),
      })),
    ),
    secrets: resources("AWS::SecretsManager::Secret", resourceSchemas.secret).map(({ arn, properties }) => ({
      arn,
      length: properties.GenerateSecretString.PasswordLength,
    })),
    /** The ids of KMS keys for signatures on the curve P-256. */
    signingKeyIds: resources("AWS::KMS::Key", resourceSchemas.signingKey).map(({ name }) => name),
    outputs: Object.entries(template.Outputs).map(([name, { Value, Description }]) => ({
      name,
      value: String(resolve(Value)),
      description: Description,
    })),
  };
}

function queueAttributes(properties: z.infer<(typeof resourceSchemas)["queue"]>): Record<string, string> {
  const { RedrivePolicy, ...numbers } = properties;
  return {
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)])),
    ...(RedrivePolicy === undefined ? {} : { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
  };
}

interface ResourceOf<Properties> {
  readonly name: string;
  readonly arn: string;
  readonly properties: Properties;
}

/** Returns a function that lists the resources of a type, with resolved references and checked properties. */
function resourceReader(template: Template, resolve: (value: unknown) => unknown) {
  return <Properties>(type: string, schema: z.ZodMiniType<Properties>): ResourceOf<Properties>[] =>
    Object.entries(template.Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([name, resource]) => ({
        name,
        arn: arnOf(type, name),
        properties: schema.parse(resolve(resource.Properties)),
      }));
}
