import { existsSync } from "node:fs";

import { ArnFormat, CfnOutput, Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Key } from "aws-cdk-lib/aws-kms";
import {
  Architecture,
  Code,
  Function,
  RecursiveLoop,
  Runtime,
  Tracing,
  type IFunction,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

import { environmentNames } from "../../shared/platform/config.ts";
import type { QueueName } from "../../shared/platform/jobs/queue-names.ts";
import { agendaIndex, type KeyFamily } from "../../shared/platform/table/keys.ts";
import { familiesBeside, familiesOf, tableActions, type Access } from "../access.ts";
import { bundleFolder } from "../bundle.ts";
import type { Stage } from "../stages/stage.ts";
import type { GatewayTable } from "./gateway-table.ts";
import type { GradualDeployments } from "./gradual-deployments.ts";
import type { JobQueue } from "./job-queue.ts";
import { callbackSecretPrefix, carrierSecretPrefix, logGroupNames } from "./names.ts";
import { outputNames } from "./stack-outputs.ts";

/** What the functions share. */
export interface Backend {
  readonly stage: Stage;
  readonly table: GatewayTable;
  readonly queues: Readonly<Record<QueueName, JobQueue>>;
  /** Signs session tokens. */
  readonly sessionKey: Key;
  /** What the secrets of webhooks are sealed with. */
  readonly webhookKey: Pick<ISecret, "secretArn">;
  /** Where customers find the API, for functions that come after it. */
  readonly apiUrl?: string;
  /** What the secrets of second factors are sealed with. */
  readonly secondFactorKey: Pick<ISecret, "secretArn">;
  /** What CloudFront shows to the API, where a stage has a firewall. */
  readonly originKey: Secret | undefined;
  /** Where the stage wants new code to come in gradually. */
  readonly deployments: GradualDeployments | undefined;
}

export interface GatewayFunctionProps {
  /** Its row's name, under which a stage may reserve concurrency for it. */
  readonly name: string;
  /** The file of the handler in `functions/`, without its ending. */
  readonly handlerFile: string;
  /** Where its permissions are written, for whoever finds that one is missing. */
  readonly accessRow: string;
  readonly access: Access;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly logs: LogGroup;
  /** Whether Lambda lets it run in a chain of calls of its own, however long. */
  readonly queuesForItself?: boolean;
  /** Whether new code of it comes in gradually, in a stage that wants that. */
  readonly gradual?: boolean;
}

/** A log group that several functions share; the names of its streams begin with the function's. */
export function logGroup(
  scope: Construct,
  id: string,
  stage: Stage,
  name: keyof ReturnType<typeof logGroupNames>,
): LogGroup {
  const group = new LogGroup(scope, id, {
    logGroupName: logGroupNames(Stack.of(scope).stackName)[name],
    // The CDK's names for numbers of days have the numbers as their values.
    retention: stage.logRetentionDays satisfies RetentionDays,
    // Permission to delete a stack must not be enough to delete its logs.
    removalPolicy: stage.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  new CfnOutput(group, "Name", { value: group.logGroupName }).overrideLogicalId(outputNames.logGroups[name]);
  return group;
}

/** A Lambda function with a role of its own that allows what its `access` says and no more. */
export class GatewayFunction extends Construct {
  readonly lambda: Function;
  /** What callers call: the function, or where new code comes in gradually, its alias. */
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
        "X-Ray knows no resources that a permission could name; a test allows nothing else to have a *.";
      Validations.of(this).acknowledge({ id: rule, reason });
    }
    const reserved = backend.stage.reservedConcurrency[props.name];
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      // Inline, because a policy resource of its own would bring the stack nearer to CloudFormation's limit.
      inlinePolicies: { access: this.#policy },
    });
    this.lambda = new Function(this, "Function", {
      description: `Permissions: ${props.accessRow}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: Code.fromAsset(bundle),
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      logGroup: props.logs,
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      recursiveLoop: props.queuesForItself === true ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      environment: environment(backend, props.access),
      tracing: Tracing.ACTIVE,
      // The CDK would add what tracing needs in such a resource.
      role: role.withoutPolicyUpdates(),
    });
    Validations.of(this.lambda).acknowledge({
      id: "Serverless-LambdaDLQ",
      reason:
        "Requests and queues wait for the answer and hear of a failure by themselves, the queues with dead letters of " +
        "their own. What a schedule calls goes on at the next call where this one ended, and its alarm says that it failed.",
    });
    const deployments = props.gradual === true ? backend.deployments : undefined;
    this.target = deployments?.aliasOf(this.lambda, props.name) ?? this.lambda;
  }

  /** Adds to what the function's role allows. */
  allow(actions: string[], resource: string, conditions: Record<string, unknown> = {}): void {
    this.#policy.addStatements(new PolicyStatement({ actions, resources: [resource], conditions }));
  }

  #allowAccess(backend: Backend, access: Access): void {
    const { stage, table, queues, sessionKey, webhookKey, secondFactorKey } = backend;
    this.#allowTable(table, access);
    // The index has keys and no data, so that all of it may be read.
    if (access.agenda === true) this.allow(["dynamodb:Query"], `${table.tableArn}/index/${agendaIndex.name}`);
    for (const queue of access.queues ?? []) this.allow(["sqs:SendMessage"], queues[queue].queue.queueArn);
    const keyActions = (access.sessionKey ?? []).map((action) => `kms:${action}`);
    if (keyActions.length > 0) this.allow(keyActions, sessionKey.keyArn);
    if (access.webhookKey === true) this.allow(["secretsmanager:GetSecretValue"], webhookKey.secretArn);
    if (access.email === true && stage.email !== undefined) this.#allowEmails(stage.email);
    if (access.callbackSecrets === true) this.#allowSecrets(stage, callbackSecretPrefix);
    if (access.secondFactorKey === true) {
      this.allow(["secretsmanager:GetSecretValue"], secondFactorKey.secretArn);
    }
    if (access.carrier === true) this.#allowCarriers(stage);
  }

  /** Carriers come and go without a deployment, and so does what they know us by, and what messages come from. */
  #allowCarriers(stage: Stage): void {
    const { region = "<AWS::Region>", account = "<AWS::AccountId>" } = stage;
    const stack = Stack.of(this);
    this.#allowSecrets(stage, carrierSecretPrefix);
    for (const origin of ["phone-number", "pool", "sender-id"]) {
      const resource = { service: "sms-voice", resource: origin, resourceName: "*" };
      this.allow(["sms-voice:SendTextMessage"], stack.formatArn(resource));
      Validations.of(this).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:sms-voice:${region}:${account}:${origin}/*]`,
        reason: "Customers bring sender IDs of their own, which come and go without a deployment.",
      });
    }
  }

  /** Lets the function send emails, from this one address of an identity that may have others. */
  #allowEmails({ from, identity = domainOf(from), configurationSet }: NonNullable<Stage["email"]>): void {
    const resources = [
      { service: "ses", resource: "identity", resourceName: identity },
      // SES asks for both, also where the identity has the configuration set as its default.
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

  /** Lets the function read the secrets of carriers that are kept under one prefix; an operator makes them. */
  #allowSecrets(
    { region = "<AWS::Region>", account = "<AWS::AccountId>" }: Pick<Stage, "account" | "region">,
    prefixOf: (stackName: string) => string,
  ): void {
    const stack = Stack.of(this);
    const resourceName = `${prefixOf((stack.nestedStackParent ?? stack).stackName)}*`;
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
        "An operator adds carriers, with a secret each, without a deployment; nothing else is kept under these names.",
    });
  }

  /** Lets DynamoDB, and nobody else, use the table's key for the function: whoever touches an item needs that. */
  #allowTableKey({ encryptionKey }: GatewayTable): void {
    if (encryptionKey === undefined) return;
    const { region, urlSuffix } = Stack.of(this);
    this.allow(
      [
        "kms:Decrypt",
        "kms:DescribeKey",
        "kms:Encrypt",
        "kms:GenerateDataKey",
        "kms:GenerateDataKeyWithoutPlaintext",
        "kms:ReEncryptFrom",
        "kms:ReEncryptTo",
      ],
      encryptionKey.keyArn,
      { StringEquals: { "kms:ViaService": `dynamodb.${region}.${urlSuffix}` } },
    );
  }

  /**
   * Allows an action on those items only whose partition key is of a family that names it. AWS does not say by which
   * keys it judges a write of a transaction: its own, those of the same action, or those of all writes. Where an action
   * is used in transactions, the statement therefore lets pass what else stands in them (`ForAllValues`), if one of the
   * keys is of the action's own families (`ForAnyValue`). A call outside of transactions has one key, so that it is held
   * to those families, and so is each write of a transaction if AWS judges it by its own key.
   *
   * `ForAllValues` is true of a request that has no keys, a scan for instance. `Null` keeps these out.
   */
  #allowTable(table: GatewayTable, access: Access): void {
    if (tableActions.some((action) => familiesOf(access, action).length > 0)) this.#allowTableKey(table);
    for (const action of tableActions) {
      const own = familiesOf(access, action);
      if (own.length === 0) continue;
      const others = familiesBeside(access, action).filter((family) => !own.includes(family));
      this.allow([`dynamodb:${action}`], table.tableArn, {
        "ForAllValues:StringLike": leadingKeys([...own, ...others]),
        ...(others.length > 0 ? { "ForAnyValue:StringLike": leadingKeys(own) } : {}),
        Null: { "dynamodb:LeadingKeys": "false" },
      });
    }
  }
}

function domainOf(address: string): string {
  return address.slice(address.indexOf("@") + 1);
}

function leadingKeys(families: readonly KeyFamily[]): Record<string, unknown> {
  return { "dynamodb:LeadingKeys": families.map((family) => `${family}#*`) };
}

/** What the stage asks for beside the contract's own rules. */
function policyVariables({
  senderIds,
  kyc,
  verifiedEmail,
  countries,
  numberTypes,
  passwords,
  redactOneTimeCodes,
  apiKeysManageKeys,
  reauthentication,
}: Stage["policies"]): Record<string, string> {
  return {
    [environmentNames.policies.senderIds]: senderIds,
    [environmentNames.policies.kyc]: kyc,
    [environmentNames.policies.verifiedEmail]: verifiedEmail,
    [environmentNames.policies.countries]: countries === "any" ? countries : countries.join(" "),
    [environmentNames.policies.numberTypes]: numberTypes === "any" ? numberTypes : numberTypes.join(" "),
    [environmentNames.policies.passwords]: passwords,
    [environmentNames.policies.redactOneTimeCodes]: String(redactOneTimeCodes),
    [environmentNames.policies.apiKeysManageKeys]: String(apiKeysManageKeys),
    [environmentNames.policies.reauthentication]: reauthentication,
  };
}

/** A limit that the stage does not have is no variable. */
function limitVariables({
  dailySpendCap,
  sendsPerSecond,
  oneTimeCodesPerNumberPer10Minutes,
  transactionalMessagesPerNumberPer10Minutes,
  marketingMessagesPerNumberPerDay,
  oneTimeCodeValiditySeconds,
  registrationsPerAddressPerHour,
  requestsPerSecond,
  unknownCredentialsPerAddressPer5Minutes,
  webhooksBeforePayment,
}: Stage["limits"]): Record<string, string> {
  const limits = {
    [environmentNames.dailySpendCap]: dailySpendCap,
    [environmentNames.sendsPerSecond]: sendsPerSecond,
    [environmentNames.oneTimeCodesPerNumber]: oneTimeCodesPerNumberPer10Minutes,
    [environmentNames.transactionalMessagesPerNumber]: transactionalMessagesPerNumberPer10Minutes,
    [environmentNames.marketingMessagesPerNumber]: marketingMessagesPerNumberPerDay,
    [environmentNames.oneTimeCodeValiditySeconds]: oneTimeCodeValiditySeconds,
    [environmentNames.registrationsPerAddress]: registrationsPerAddressPerHour,
    [environmentNames.requestsPerSecond]: requestsPerSecond,
    [environmentNames.unknownCredentialsPerAddress]: unknownCredentialsPerAddressPer5Minutes,
    [environmentNames.webhooksBeforePayment]: webhooksBeforePayment,
  };
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) =>
      limit === undefined || limit === "none" ? [] : [[name, String(limit)]],
    ),
  );
}

/** What a function needs to owe emails, and one to send them. */
function emailVariables({ stage, apiUrl }: Backend, access: Access): Record<string, string> {
  if (stage.email === undefined) return {};
  const { from, name, configurationSet } = stage.email;
  if (access.email !== true) return { [environmentNames.emailFrom]: from };
  if (apiUrl === undefined) throw new Error("nobody has said where the links in emails lead");
  return {
    [environmentNames.emailFrom]: from,
    [environmentNames.emailName]: name,
    ...(configurationSet === undefined ? {} : { [environmentNames.emailConfigurationSet]: configurationSet }),
    [environmentNames.apiUrl]: apiUrl,
  };
}

function environment(backend: Backend, access: Access): Record<string, string> {
  const { stage, table, queues, sessionKey, webhookKey, secondFactorKey } = backend;
  return {
    [environmentNames.stage]: stage.name,
    [environmentNames.tableName]: table.tableName,
    [environmentNames.topUpEnabled]: String(stage.topUpEnabled),
    [environmentNames.docsEnabled]: String(stage.docsEnabled),
    [environmentNames.webhookTargets]: stage.webhookTargets,
    [environmentNames.carrier]: stage.carrier,
    [environmentNames.prices]: stage.prices,
    [environmentNames.failoverAtLoss]: String(stage.failoverAtLoss),
    [environmentNames.behindFirewall]: String(stage.firewall !== undefined),
    ...policyVariables(stage.policies),
    ...limitVariables(stage.limits),
    ...emailVariables(backend, access),
    ...(stage.messageRetentionDays === undefined
      ? {}
      : { [environmentNames.messageRetentionDays]: String(stage.messageRetentionDays) }),
    ...((access.sessionKey ?? []).length > 0 ? { [environmentNames.sessionKeyId]: sessionKey.keyId } : {}),
    ...(access.webhookKey === true ? { [environmentNames.webhookKeySecretId]: webhookKey.secretArn } : {}),
    ...(access.secondFactorKey === true
      ? { [environmentNames.secondFactorKeySecretId]: secondFactorKey.secretArn }
      : {}),
    ...Object.fromEntries(
      (access.queues ?? []).map((queue) => [environmentNames.queueUrl[queue], queues[queue].queue.queueUrl]),
    ),
  };
}
