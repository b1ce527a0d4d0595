import { GetCommand, TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";

/** A protection that a test removes, to show that the model would notice. */
export type Mutation =
  | "ambiguity check"
  | "block condition"
  | "budget condition"
  | "cap condition"
  | "held condition"
  | "noted day"
  | "test sender"
  | "void"
  | "throttle-only retry";

/** Changes a request to the table before it is carried out. */
export function mutateRequest(mutation: Mutation | undefined, command: object): void {
  if (mutation === "block condition" && command instanceof TransactWriteCommand)
    forgetCondition(command, "CAMPAIGNS#");
  if (mutation === "cap condition") forgetCapCondition(command);
  if (mutation === "budget condition") forgetCondition(command, "LIMIT#");
  if (mutation === "held condition") forgetCondition(command, "HELD#");
  if (mutation === "noted day") forgetNotedDay(command);
}

/** Loses the wallet's counts of a day when it moves to the next one. */
function forgetNotedDay(command: object): void {
  if (!(command instanceof UpdateCommand)) return;
  const { ExpressionAttributeValues: values = {} } = command.input;
  if (":acceptedByWallet" in values) values[":acceptedByWallet"] = 0;
}

/** Lets a debit pass regardless of the day's cap. */
function forgetCapCondition(command: object): void {
  if (!(command instanceof UpdateCommand)) return;
  const { ConditionExpression } = command.input;
  const others = ConditionExpression?.replace(/#spendLeftMicros >= :\w+ AND/, "");
  if (others !== undefined) command.input.ConditionExpression = others;
}

/** Whether a request records a lost debit. */
export function isVoid(command: object): boolean {
  return (
    command instanceof TransactWriteCommand &&
    (command.input.TransactItems ?? []).some(({ Put }) => Put?.Item?.["type"] === "void")
  );
}

/** Lets updates of the partitions with a prefix pass, whatever they require. */
function forgetCondition(command: object, prefix: string): void {
  const updates =
    command instanceof TransactWriteCommand
      ? (command.input.TransactItems ?? []).map(({ Update }) => Update)
      : [command instanceof UpdateCommand ? command.input : undefined];
  for (const update of updates)
    if (String(update?.Key?.["pk"]).startsWith(prefix)) delete update?.ConditionExpression;
}

/** Whether a request reads a wallet, as a debit does whose outcome is unknown. */
export function isWalletRead(command: object): boolean {
  return command instanceof GetCommand && String(command.input.Key?.["pk"]).startsWith("WALLET#");
}
