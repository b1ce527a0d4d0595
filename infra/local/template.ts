import { readFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

import type { StackOutput } from "../constructs/stack-outputs.ts";

/*
 * Reads a synthesized stack as CloudFormation would: fills in references and takes out the resources that the
 * local gateway runs. Resources of other types, alarms and log groups for instance, have no local counterpart.
 */

export const localRegion = "us-east-1";
export const localAccountId = "000000000000";

const OneOrMany = z.pipe(
  z.union([z.string(), z.array(z.string())]),
  z.transform((value) => [value].flat()),
);

const LeadingKeys = z.strictObject({ "dynamodb:LeadingKeys": OneOrMany });

const OnLeadingKeys = z.strictObject({
  "ForAllValues:StringLike": LeadingKeys,
  "ForAnyValue:StringLike": z.optional(LeadingKeys),
  Null: z.optional(z.strictObject({ "dynamodb:LeadingKeys": z.literal("false") })),
});
export type OnLeadingKeys = z.infer<typeof OnLeadingKeys>;

const OnFromAddress = z.strictObject({ StringEquals: z.strictObject({ "ses:FromAddress": z.string() }) });

const Statement = z.strictObject({
  Effect: z.literal("Allow"),
  Action: OneOrMany,
  Resource: OneOrMany,
  // Any other condition would need code of its own in permissions.ts, so it must not go unnoticed.
  Condition: z.optional(z.union([OnLeadingKeys, OnFromAddress])),
});
export type Statement = z.infer<typeof Statement>;

const KeySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));

// What else there may be would need code of its own in cors.ts.
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
  /** An alias or, without a name, a version. */
  qualifier: z.object({ FunctionName: z.string(), Name: z.optional(z.string()) }),
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
  // What else a key may be for would need code of its own in local-aws.ts.
  signingKey: z.object({ KeySpec: z.literal("ECC_NIST_P256"), KeyUsage: z.literal("SIGN_VERIFY") }),
};

export interface FunctionDefinition {
  readonly name: string;
  /** Where its permissions are written. */
  readonly description: string;
  readonly bundleFile: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Whether it may run in one chain of calls however often. */
  readonly queuesForItself: boolean;
  /** What its role allows. */
  readonly statements: readonly Statement[];
}

interface QueueDefinition {
  readonly name: string;
  readonly arn: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The queue behind it, where it has one. */
  readonly deadLettersArn: string | undefined;
}

export interface ScheduleDefinition {
  readonly expression: string;
  readonly functionName: string;
  /** What the function is called with, where that is not EventBridge's own event. */
  readonly input?: unknown;
}

export interface StackDefinition {
  readonly table: z.infer<(typeof resourceSchemas)["table"]> & { readonly name: string };
  /** By what the table's items expire, if they do. */
  readonly expiry: z.infer<(typeof resourceSchemas)["expiry"]>;
  /** Dead-letter queues stand before the queues that point to them. */
  readonly queues: readonly QueueDefinition[];
  readonly functions: readonly FunctionDefinition[];
  /** Which pages of others the API lets call it; none where nothing is said. */
  readonly cors: CorsConfiguration | undefined;
  readonly routes: readonly { readonly routeKey: string; readonly functionName: string }[];
  readonly eventSources: readonly {
    readonly queueArn: string;
    readonly functionName: string;
    readonly batchSize: number;
    readonly maxConcurrency: number;
  }[];
  readonly schedules: readonly ScheduleDefinition[];
  readonly secrets: readonly { readonly arn: string; readonly length: number }[];
  /** The ids of KMS keys that sign, on the curve P-256. */
  readonly signingKeyIds: readonly string[];
  readonly outputs: readonly StackOutput[];
}

const Template = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown(), Description: z.optional(z.string()) })),
});
type Template = z.infer<typeof Template>;

const AssetManifest = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string() }) })),
});

interface LocalUrls {
  readonly aws: string;
  readonly api: string;
}

/**
 * The stack that `npm run synth` or the local gateway has written to a folder.
 * @param urls where the functions find AWS, with which queue URLs begin; and where customers find the API
 */
export async function readStack(
  assemblyFolder: string,
  stackName: string,
  urls: LocalUrls,
): Promise<StackDefinition> {
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(path.join(assemblyFolder, file), "utf8"));
  const template = Template.parse(await read(`${stackName}.template.json`));
  const assets = AssetManifest.parse(await read(`${stackName}.assets.json`));
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
    expiry: expiry.properties,
    queues: resources("AWS::SQS::Queue", resourceSchemas.queue)
      .map(({ name, arn, properties }) => ({
        name,
        arn,
        attributes: queueAttributes(properties),
        deadLettersArn: properties.RedrivePolicy?.deadLetterTargetArn,
      }))
      .toSorted((a, b) => Number("RedrivePolicy" in a.attributes) - Number("RedrivePolicy" in b.attributes)),
    functions: resources("AWS::Lambda::Function", resourceSchemas.function).map(({ name, properties }) => {
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
    }),
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
      properties.Targets.map(({ Arn, Input }) => ({
        expression: properties.ScheduleExpression,
        functionName: functionIn(Arn),
        ...(Input === undefined ? {} : { input: JSON.parse(Input) as unknown }),
      })),
    ),
    secrets: resources("AWS::SecretsManager::Secret", resourceSchemas.secret).map(({ arn, properties }) => ({
      arn,
      length: properties.GenerateSecretString.PasswordLength,
    })),
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

/** A function that fills in the references in a part of the template. */
function resolver(template: Template, urls: LocalUrls): (value: unknown) => unknown {
  const typeOf = (logicalId: string): string => template.Resources[logicalId]?.Type ?? "";
  const attribute = (logicalId: string, name: string): string => {
    if (name === "Arn") return arnOf(typeOf(logicalId), logicalId);
    return name === "ApiEndpoint" ? urls.api : logicalId;
  };
  const reference = (name: string): string => {
    if (name.startsWith("AWS::")) return pseudoParameter(name);
    switch (typeOf(name)) {
      case "AWS::SQS::Queue":
        return `${urls.aws}/${localAccountId}/${name}`;
      case "AWS::SecretsManager::Secret":
        return arnOf(typeOf(name), name);
      case "AWS::Lambda::Alias":
      case "AWS::Lambda::Version": {
        const properties = resolve(template.Resources[name]?.Properties);
        const { FunctionName, Name = name } = resourceSchemas.qualifier.parse(properties);
        return `${arnOf("AWS::Lambda::Function", functionIn(FunctionName))}:${Name}`;
      }
      default:
        return name;
    }
  };

  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [only, ...others] = entries;
    if (only !== undefined && others.length === 0) {
      const [name, argument] = only;
      if (name === "Ref") return reference(String(argument));
      if (name.startsWith("Fn::")) return intrinsic(name, resolve(argument));
    }
    return Object.fromEntries(entries.map(([name, part]) => [name, resolve(part)]));
  };
  const intrinsic = (name: string, argument: unknown): string | string[] => {
    if (name === "Fn::GetAtt") return attribute(...z.tuple([z.string(), z.string()]).parse(argument));
    if (name === "Fn::Join") {
      const [separator, parts] = z.tuple([z.string(), z.array(z.string())]).parse(argument);
      return parts.join(separator);
    }
    if (name === "Fn::Select") {
      const [index, parts] = z.tuple([z.coerce.number(), z.array(z.string())]).parse(argument);
      return z.string().parse(parts[index]);
    }
    if (name === "Fn::Split") {
      const [separator, text] = z.tuple([z.string(), z.string()]).parse(argument);
      return text.split(separator);
    }
    if (name === "Fn::Sub") {
      return z
        .string()
        .parse(argument)
        .replace(/\$\{([^}]+)\}/g, (_, parameter: string) => reference(parameter));
    }
    throw new Error(`the local gateway does not know ${name}`);
  };
  return resolve;
}

/** A function that lists the resources of a type, their references filled in and their shape checked. */
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

function arnOf(type: string, logicalId: string): string {
  const service = type.split("::")[1]?.toLowerCase();
  const kinds: Readonly<Record<string, string>> = {
    "AWS::DynamoDB::GlobalTable": "table/",
    "AWS::KMS::Key": "key/",
    "AWS::Lambda::Function": "function:",
  };
  const kind = kinds[type] ?? "";
  return `arn:aws:${service}:${localRegion}:${localAccountId}:${kind}${logicalId}`;
}

/** The function that an ARN or a name means, with or without one of its aliases or versions behind it. */
function functionIn(reference: string): string {
  return reference.replace(/^arn:.*?:function:/, "").replace(/:.*/, "");
}

function pseudoParameter(name: string): string {
  const value = {
    "AWS::AccountId": localAccountId,
    "AWS::Partition": "aws",
    "AWS::Region": localRegion,
    "AWS::URLSuffix": "amazonaws.com",
  }[name];
  if (value === undefined) throw new Error(`the local gateway does not know ${name}`);
  return value;
}
