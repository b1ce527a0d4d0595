import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";

import { logGroupNames } from "./names.ts";

/**
 * The command that shows what has come into a log group of the stack in the last hour.
 * @param pattern as CloudWatch takes it, without single quotes
 */
export function tailOf(
  scope: Construct,
  group: keyof ReturnType<typeof logGroupNames>,
  pattern: string,
): string {
  const name = logGroupNames(Stack.of(scope).stackName)[group];
  return `aws logs tail ${name} --since 1h --filter-pattern '${pattern}'`;
}
