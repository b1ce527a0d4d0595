import { existsSync } from "node:fs";

import { bundleFolder } from "@sms-gateway/build/bundle-folder.ts";
import { ArnFormat, Duration, Names, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  Code,
  Function,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
  type IFunction,
} from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";

import type { KeyFamily } from "../../../shared/platform/table/key-families.ts";
import { pendingWorkIndex } from "../../../shared/platform/table/pending-work-index.ts";
import { tableActions, type Access } from "../access.ts";
import { withBrandImages } from "../stages/brand.ts";
import type { Stage } from "../stages/stage.ts";
import type { Backend } from "./backend.ts";
import { functionEnvironment } from "./function-environment.ts";
import type { GatewayTable } from "./gateway-table.ts";
import { callbackSecretPrefix, carrierSecretPrefix, paymentSecretName } from "./names.ts";

export interface GatewayFunctionProps {
  /** The name of its row, under which a stage may reserve concurrency. */
  readonly name: string;
  /** The file of the handler in `functions/`, without its extension. */
  readonly handlerFile: string;
  readonly access: Access;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly logs: LogGroup;
  /** Whether Lambda allows long chains of its own calls. */
  readonly queuesForItself?: boolean;
  /** Whether new code of it is deployed gradually, in a stage with gradual deployment. */
  readonly gradual?: boolean;
}

/** A Lambda function whose own role allows what its `access` lists and no more. */
export class GatewayFunction extends Construct {
  readonly lambda: Function;
  /** The callee: the function, or with gradual deployment its alias. */
  readonly target: IFunction;
  readonly #policy = new PolicyDocument();

  constructor(scope: Construct, id: string, backend: Backend, props: GatewayFunctionProps) {
    super(scope, id);
    const bundle = bundleFolder(props.handlerFile);
    if (!existsSync(bundle)) throw new Error(`the handler functions/${props.handlerFile}.ts is missing`);
    this.#allowAccess(backend, props.access);
    this.allow(["logs:CreateLogStream", "logs:PutLogEvents"], props.logs.logGroupArn);
    this.allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*");
    for (const rule of ["AwsSolutions-IAM5[Resource::*]", "Serverless-LambdaStarPermissions"]) {
      const reason =
        "A permission for X-Ray cannot name a resource. A test allows no other permission with a *.";
      Validations.of(this).acknowledge({ id: rule, reason });
    }
    const reserved = backend.stage.reservedConcurrency[props.name];
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      // Inline, because a separate policy would be one more resource for each function.
      inlinePolicies: { access: this.#policy },
    });
    this.lambda = new Function(this, "Function", {
      description: `Permissions: ${props.name} in infra/stack/permissions.txt`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: Code.fromAsset(props.access.may("brandImages") ? withBrandImages(bundle, backend.stage) : bundle),
      layers: props.access.may("readDocuments") ? [backend.fonts] : [],
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      logGroup: props.logs,
      // Lambda writes three lines of its own about each call, unless it failed. At the level of warnings it writes only about failures.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      recursiveLoop: props.queuesForItself === true ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      environment: functionEnvironment(backend, props.access, this.#stackName()),
      tracing: Tracing.ACTIVE,
      // The CDK would add the permissions of tracing in a separate policy.
      role: role.withoutPolicyUpdates(),
    });
    Validations.of(this.lambda).acknowledge({
      id: "Serverless-LambdaDLQ",
      reason:
        "Requests and queues wait for the result, and queues have dead letters. A function with a schedule continues with " +
        "the next call, and an alarm watches its failures.",
    });
    const deployments = props.gradual === true ? backend.deployments : undefined;
    this.target = deployments?.aliasOf(this.lambda, props.name) ?? this.lambda;
  }

  /** Adds a permission to the function's role. */
  allow(actions: string[], resource: string, conditions: Record<string, unknown> = {}): void {
    this.#policy.addStatements(statement(actions, resource, conditions));
  }

  #allowAccess(backend: Backend, access: Access): void {
    const { stage, table, queues, sessionKeys, webhookKey, secondFactorKey } = backend;
    this.#policy.addStatements(...tableStatements(this, table, access));
    this.#policy.addStatements(...documentStatements(this, backend.documents, access));
    // The index has keys and no data, so the function may read all of it.
    if (access.listsPendingWork)
      this.allow(["dynamodb:Query"], `${table.tableArn}/index/${pendingWorkIndex.name}`);
    for (const queue of access.queues) this.allow(["sqs:SendMessage"], queues[queue].queue.queueArn);
    if (access.may("checkSessions"))
      for (const { keyArn } of sessionKeys) this.allow(["kms:GetPublicKey"], keyArn);
    if (access.may("startSessions")) this.allow(["kms:Sign"], sessionKeys[0].keyArn);
    if (access.may("webhookKey")) this.allow(["secretsmanager:GetSecretValue"], webhookKey.secretArn);
    if (access.may("email") && stage.email !== undefined) this.#allowEmails(stage.email);
    if (access.may("callbackSecrets")) this.#allowSecrets(stage, callbackSecretPrefix);
    if (access.may("secondFactorKey")) {
      this.allow(["secretsmanager:GetSecretValue"], secondFactorKey.secretArn);
    }
    if (access.may("verificationKey")) {
      this.allow(["secretsmanager:GetSecretValue"], backend.verificationKey.secretArn);
    }
    if (access.may("carrier")) this.#allowCarriers(stage);
    if (access.may("paymentProvider") && stage.payments.cards !== "none") {
      this.#allowSecrets(stage, paymentSecretName);
    }
  }

  /** Allows all carriers: they, their credentials and their senders change without a deployment. */
  #allowCarriers(stage: Stage): void {
    const { region = "<AWS::Region>", account = "<AWS::AccountId>" } = stage;
    const stack = Stack.of(this);
    this.#allowSecrets(stage, carrierSecretPrefix);
    for (const origin of ["phone-number", "pool", "sender-id"]) {
      const resource = { service: "sms-voice", resource: origin, resourceName: "*" };
      this.allow(["sms-voice:SendTextMessage"], stack.formatArn(resource));
      Validations.of(this).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sms-voice:${region}:${account}:${origin}/*]`,
        reason: "Customers bring their own sender IDs, which change without a deployment.",
      });
    }
  }

  /** Allows emails from one address of an identity that may have others. */
  #allowEmails({ from, identity = domainOf(from), configurationSet }: NonNullable<Stage["email"]>): void {
    const resources = [
      { service: "ses", resource: "identity", resourceName: identity },
      // SES checks both permissions, even where the configuration set is the default of the identity.
      ...(configurationSet === undefined
        ? []
        : [{ service: "ses", resource: "configuration-set", resourceName: configurationSet }]),
    ];
    for (const resource of resources) {
      this.allow(["ses:SendEmail"], Stack.of(this).formatArn(resource), {
        StringEquals: { "ses:FromAddress": from },
      });
    }
  }

  /** Returns the name of the gateway's stack, which may have the function in a nested one. */
  #stackName(): string {
    const stack = Stack.of(this);
    return (stack.nestedStackParent ?? stack).stackName;
  }

  /** Allows the secrets whose names begin with a prefix. An operator creates them. */
  #allowSecrets(
    { region = "<AWS::Region>", account = "<AWS::AccountId>" }: Pick<Stage, "account" | "region">,
    prefixOf: (stackName: string) => string,
  ): void {
    const stack = Stack.of(this);
    const resourceName = `${prefixOf(this.#stackName())}*`;
    const arn = stack.formatArn({
      service: "secretsmanager",
      resource: "secret",
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.allow(["secretsmanager:GetSecretValue"], arn);
    Validations.of(this).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:secretsmanager:${region}:${account}:secret:${resourceName}]`,
      reason:
        "An operator writes these secrets without a deployment, and AWS appends six characters to each name.",
    });
  }
}

/** Allows to read or add documents. S3 reports a missing one as such only to those who may list the bucket. */
export function documentStatements(
  scope: Construct,
  documents: Backend["documents"],
  access: Pick<Access, "may">,
): PolicyStatement[] {
  const actions = [
    ...(access.may("readDocuments") ? ["s3:GetObject"] : []),
    ...(access.may("writeDocuments") ? ["s3:PutObject"] : []),
  ];
  if (actions.length === 0) return [];
  // A nested stack gets the bucket as a parameter.
  const stack = Stack.of(scope);
  const parameter = `referenceto${Names.nodeUniqueId(documents.node.findChild("Resource").node)}Arn`;
  const attribute = String(stack.resolve(documents.bucketArn)["Fn::GetAtt"]?.join("."));
  Validations.of(scope).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${stack.nestedStackParent === undefined ? attribute : parameter}>/*]`,
    reason: "Each invoice is a new object. The bucket has no other objects.",
  });
  return [
    statement(actions, `${documents.bucketArn}/*`),
    ...(access.may("readDocuments") ? [statement(["s3:ListBucket"], documents.bucketArn)] : []),
    ...keyStatements(scope, "s3", ["kms:Decrypt", "kms:GenerateDataKey"], documents),
  ];
}

export const tableKeyActions = [
  "kms:Decrypt",
  "kms:DescribeKey",
  "kms:Encrypt",
  "kms:GenerateDataKey",
  "kms:GenerateDataKeyWithoutPlaintext",
  "kms:ReEncryptFrom",
  "kms:ReEncryptTo",
];

/** Returns a permission. */
export function statement(
  actions: string[],
  resource: string,
  conditions: Record<string, unknown> = {},
): PolicyStatement {
  return new PolicyStatement({ actions, resources: [resource], conditions });
}

/** Allows to use the stage's key through a service, which every access to encrypted data needs. */
export function keyStatements(
  scope: Construct,
  service: "dynamodb" | "s3",
  actions: string[],
  { encryptionKey }: Pick<GatewayTable, "encryptionKey">,
): PolicyStatement[] {
  if (encryptionKey === undefined) return [];
  const { region, urlSuffix } = Stack.of(scope);
  const via = { "kms:ViaService": `${service}.${region}.${urlSuffix}` };
  return [statement(actions, encryptionKey.keyArn, { StringEquals: via })];
}

/**
 * Allows an action only on items whose partition key is of a family that names it. AWS does not document which keys it
 * checks for a transaction's write: its own, those of the same action, or those of all writes. So for an action that
 * is used in transactions, the statement allows the other families of these transactions (`ForAllValues`). One of the
 * keys has to be of the action's own families (`ForAnyValue`). A call outside a transaction has one key, which must be
 * of those families. The same holds for each write if AWS checks it by its own key.
 *
 * `ForAllValues` is true for a request without keys, such as a scan. `Null` rejects these.
 * @param partly families of which only some attributes are readable. The statement for them is not made here.
 */
export function tableStatements(
  scope: Construct,
  table: GatewayTable,
  access: Access,
  partly: readonly KeyFamily[] = [],
): PolicyStatement[] {
  const onItems = tableActions.flatMap((action) => {
    const own = access.familiesOf(action).filter((family) => !isRead(action) || !partly.includes(family));
    if (own.length === 0) return [];
    const others = access.familiesBeside(action);
    return statement([`dynamodb:${action}`], table.tableArn, {
      "ForAllValues:StringLike": leadingKeys([...own, ...others]),
      ...(others.length > 0 ? { "ForAnyValue:StringLike": leadingKeys(own) } : {}),
      Null: { "dynamodb:LeadingKeys": "false" },
    });
  });
  return onItems.length === 0
    ? []
    : [...keyStatements(scope, "dynamodb", tableKeyActions, table), ...onItems];
}

export const readActions = ["BatchGetItem", "GetItem", "Query"] as const;

function isRead(action: string): boolean {
  return readActions.some((read) => read === action);
}

function domainOf(address: string): string {
  return address.slice(address.indexOf("@") + 1);
}

export function leadingKeys(families: readonly KeyFamily[]): Record<string, unknown> {
  return { "dynamodb:LeadingKeys": families.map((family) => `${family}#*`) };
}
