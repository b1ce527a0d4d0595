import * as dynamodb from "../../shared/platform/aws/dynamodb.ts";
import * as sqs from "../../shared/platform/aws/sqs.ts";

const commandClasses: Readonly<Record<string, unknown>> = { ...dynamodb, ...sqs };

/** A command, of the class that this release's packages have. Those of the last release may differ. */
export function withOwnClass(command: object): object {
  const Own = commandClasses[command.constructor.name];
  if (typeof Own !== "function" || command instanceof Own) return command;
  const own: object = Reflect.construct(Own, [Object(command).input]);
  return own;
}
