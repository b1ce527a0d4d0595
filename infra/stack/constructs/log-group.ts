import { CfnOutput, Stack } from "aws-cdk-lib";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

import type { Stage } from "../stages/stage.ts";
import { logGroupNames } from "./names.ts";
import { removalPolicyOf } from "./removal-policy.ts";
import { outputNames } from "./stack-outputs.ts";

/** Creates a log group that several functions share. The names of its streams begin with the function's. */
export function logGroup(
  scope: Construct,
  id: string,
  stage: Stage,
  name: keyof ReturnType<typeof logGroupNames>,
): LogGroup {
  const group = new LogGroup(scope, id, {
    logGroupName: logGroupNames(Stack.of(scope).stackName)[name],
    // The members of the CDK's enumeration are numbers of days.
    retention: stage.logRetentionDays satisfies RetentionDays,
    // Permission to delete a stack must not be enough to delete its logs.
    removalPolicy: removalPolicyOf(stage),
  });
  new CfnOutput(group, "Name", { value: group.logGroupName }).overrideLogicalId(outputNames.logGroups[name]);
  return group;
}
