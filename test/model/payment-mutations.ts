import { GetCommand, TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";

/** A protection of payments that a test removes, to show that the check would notice. */
export type PaymentMutation =
  | "account condition"
  | "chargeback reference"
  | "recharge condition"
  | "reference condition"
  | "version condition";

/** Changes a request to the table before it is carried out. */
export function mutateRequest(mutation: PaymentMutation | undefined, command: object): void {
  if (mutation === undefined || !(command instanceof TransactWriteCommand)) return;
  for (const { Put, Update } of command.input.TransactItems ?? []) {
    const write = Put ?? Update;
    if (write === undefined) continue;
    const key = String(Put?.Item?.["pk"] ?? Update?.Key?.["pk"]);
    const isUpdate = Update !== undefined;
    const isRemoved =
      (mutation === "reference condition" && key.startsWith("REFERENCE#")) ||
      (mutation === "chargeback reference" && String(Put?.Item?.["reference"]).startsWith("dp_")) ||
      (mutation === "version condition" && isUpdate && key.startsWith("PAYMENTS#")) ||
      (mutation === "recharge condition" &&
        String(Update?.UpdateExpression).includes("#rechargeId = :rechargeId"));
    if (isRemoved) delete write.ConditionExpression;
  }
}

/** @returns the table's response as the code sees it */
export function mutatedAnswer(
  mutation: PaymentMutation | undefined,
  command: object,
  answer: unknown,
): unknown {
  const { Item, Attributes } = Object(answer);
  if (mutation === "chargeback reference" && command instanceof GetCommand && Item?.entity === "payment")
    return { Item: { ...Item, disputes: [] } };
  // A payment does not name its account, so that the keys of any account decide.
  if (mutation === "account condition" && command instanceof GetCommand && Item?.entity === "payment")
    return { Item: { ...Item, providerAccount: undefined } };
  // A debit does not see that a recharge is in progress.
  if (
    mutation === "recharge condition" &&
    command instanceof UpdateCommand &&
    Attributes?.entity === "wallet"
  )
    return { Attributes: { ...Attributes, rechargeId: undefined } };
  return answer;
}
