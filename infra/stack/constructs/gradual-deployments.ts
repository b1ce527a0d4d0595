import { Duration, Stack, Validations } from "aws-cdk-lib";
import { MathExpression, Metric, Stats, type Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnAlias, type Alias, type Function, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";

import { faultsMetric, metricsNamespace } from "../../../shared/platform/metrics.ts";
import { workers } from "../workers.ts";
import type { Alarms } from "./alarms.ts";
import { tailOf } from "./commands.ts";
import { kebabCase, pascalCase } from "./names.ts";

/** The alias that callers use; CodeDeploy moves it from version to version. */
const aliasName = "live";

/** The percentage of failed calls within a minute at which a new version is rolled back. */
const toleratedPercent = 5;

/**
 * Deploys new code of functions gradually. With each change a function gets a version, and its alias routes a tenth of the
 * calls to the new one for five minutes. When too many of them fail, all calls go to the old version again, and
 * CloudFormation rolls the whole update back.
 */
export class GradualDeployments extends Construct {
  readonly #application: LambdaApplication;
  readonly #applicationName: string;
  readonly #role: Role;
  readonly #alarms: Alarms;

  constructor(scope: Construct, id: string, alarms: Alarms) {
    super(scope, id);
    this.#alarms = alarms;
    this.#applicationName = alarms.stack.stackName;
    const applicationName = this.#applicationName;
    this.#application = new LambdaApplication(this, "Application", { applicationName });
    this.#role = new Role(this, "Role", { assumedBy: new ServicePrincipal("codedeploy.amazonaws.com") });
    Validations.of(this.#role).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
      reason: "AWS provides it for this purpose, and does not document which calls CodeDeploy makes.",
    });
  }

  /**
   * Gives a function an alias that moves to new versions gradually.
   * @param name the function's row
   * @returns the alias, for callers
   */
  aliasOf(lambda: Function, name: string): IFunction {
    const stack = Stack.of(lambda);
    const scope = new Construct(
      stack.nested ? stack : this.#alarms.monitoring,
      `${this.node.id}${pascalCase(name)}`,
    );
    // The previous version is deleted once the new one has all calls.
    const alias = lambda.addAlias(aliasName);
    const deploymentGroupName = kebabCase(name);
    const group = new LambdaDeploymentGroup(scope, "Group", {
      deploymentGroupName,
      application: this.#application,
      role: this.#role,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: addAlarms(this.#alarms, scope, alias.version, name),
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    letMove(alias, { applicationName: this.#applicationName, deploymentGroupName });
    // The group and its alarms have to exist before the alias moves to the version that they watch.
    alias.node.addDependency(group);
    // It is one, except that a property is undefined instead of absent.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return alias as IFunction;
  }
}

/**
 * Allows a deployment group to move an alias. The two may be in different stacks, where the CDK's own update policy has a
 * broken reference. So this policy uses the names.
 */
function letMove(
  alias: Alias,
  group: { readonly applicationName: string; readonly deploymentGroupName: string },
): void {
  const resource = alias.node.defaultChild;
  if (!(resource instanceof CfnAlias)) throw new Error("the default child of an alias is not a CfnAlias");
  resource.cfnOptions.updatePolicy = { codeDeployLambdaAliasUpdate: group };
}

/**
 * Adds the alarms that CodeDeploy watches during a deployment. They cover the new version alone, so faults of the old one do
 * not stop its fix. They notify no one else: the deployment itself fails.
 */
function addAlarms(alarms: Alarms, scope: Construct, version: IVersion, name: string): Alarm[] {
  const { functionName } = version.lambda;
  const period = Duration.minutes(1);
  const ofVersion = { FunctionName: functionName, ExecutedVersion: version.version };
  const ofLambda = (metricName: string): Metric =>
    new Metric({
      namespace: "AWS/Lambda",
      metricName,
      dimensionsMap: { ...ofVersion, Resource: `${functionName}:${aliasName}` },
      statistic: Stats.SUM,
      period,
    });
  const add = (kind: string, failed: Metric, means: string): Alarm =>
    alarms.add(kind, "ticket", {
      subject: kebabCase(name),
      scope,
      isSilent: true,
      means: `${means} CodeDeploy returns its calls to the previous version.`,
      firstStep: `Find the errors of the new version of ${pascalCase(name)}, fix them and deploy again.`,
      command: tailOf(alarms, name in workers ? "workers" : "api", '{ $.level = "error" }'),
      metric: new MathExpression({
        expression: "100 * failed / calls",
        usingMetrics: { failed, calls: ofLambda("Invocations") },
        label: "Failed calls in percent",
        period,
      }),
      threshold: toleratedPercent,
    });
  return [
    add("version-errors", ofLambda("Errors"), "Calls of a new version crash or time out."),
    // A function handles most of its failures itself, and Lambda counts no error.
    add(
      "version-faults",
      new Metric({
        namespace: metricsNamespace,
        metricName: faultsMetric,
        dimensionsMap: ofVersion,
        statistic: Stats.SUM,
        period,
      }),
      "A new version logs errors, or its jobs fail.",
    ),
  ];
}
