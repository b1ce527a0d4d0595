import { Duration, Stack, Validations } from "aws-cdk-lib";
import { MathExpression, Metric, Stats, type Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from "aws-cdk-lib/aws-codedeploy";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnAlias, type Alias, type Function, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";

import { faultsMetric, metricsNamespace } from "../../shared/platform/metrics.ts";
import { workers } from "../workers.ts";
import type { Alarms } from "./alarms.ts";
import { tailOf } from "./commands.ts";
import { kebabCase, pascalCase } from "./names.ts";

/** The alias that callers call; CodeDeploy moves it from version to version. */
const aliasName = "live";

/** At how many failed calls of a hundred within a minute a new version is taken back. */
const toleratedPercent = 5;

/**
 * Lets new code of functions in gradually: with each change a function gets a version, and its alias hands a tenth of
 * the calls to the new one for five minutes. When too many of them fail, all calls go to the old version again and
 * CloudFormation takes the whole update back.
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
      reason: "AWS made it for this, and no page says what CodeDeploy calls beside moving an alias.",
    });
  }

  /**
   * Lets new code of a function in gradually.
   * @param name the function's row
   * @returns what is to be called in its place
   */
  aliasOf(lambda: Function, name: string): IFunction {
    const stack = Stack.of(lambda);
    const scope = new Construct(
      stack.nested ? stack : this.#alarms.monitoring,
      `${this.node.id}${pascalCase(name)}`,
    );
    // The version before goes once the new one has all calls: to go back further is to deploy the code of then.
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
    // The group and its alarms have to be there before the alias moves to the version that they watch.
    alias.node.addDependency(group);
    // It is one, but for a property that it has as undefined and not as absent.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return alias as IFunction;
  }
}

/**
 * Lets a deployment group move an alias. It is in another stack than the alias, and the CDK would refer to it in the update
 * policy as if it were in the same: it has a name of its own for this.
 */
function letMove(
  alias: Alias,
  group: { readonly applicationName: string; readonly deploymentGroupName: string },
): void {
  const resource = alias.node.defaultChild;
  if (!(resource instanceof CfnAlias)) throw new Error("the alias of a function is no CfnAlias");
  resource.cfnOptions.updatePolicy = { codeDeployLambdaAliasUpdate: group };
}

/**
 * Adds what CodeDeploy looks at while it lets a version in. It is about that version alone, so that what is wrong with
 * the old one keeps no remedy out, and it tells nobody else: whoever deploys sees the deployment fail.
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
    alarms.add({
      kind,
      subject: kebabCase(name),
      scope,
      isSilent: true,
      means: `${means} CodeDeploy gives its calls back to the version before.`,
      firstStep: `Find what the new version of ${pascalCase(name)} meets, fix it and deploy again.`,
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
    add("version-errors", ofLambda("Errors"), "Calls of a new version crash or run out of time."),
    // A function answers for most of what goes wrong in it, which is no error to Lambda.
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
