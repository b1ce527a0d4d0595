import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { vi } from "vitest";

/**
 * Stands between the present code and the table, until `vi.restoreAllMocks`.
 * @param answer is given each request, and what sends it on
 */
export function interceptTableRequests(
  answer: (command: object, send: () => Promise<unknown>) => Promise<unknown>,
): void {
  // It is called with its own `this`.
  // oxlint-disable-next-line typescript/unbound-method
  const { send } = DynamoDBDocumentClient.prototype;
  // oxlint-disable-next-line typescript/no-misused-promises
  vi.spyOn(DynamoDBDocumentClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBDocumentClient,
    command: object,
  ) {
    return answer(command, async () => Reflect.apply(send, this, [command]));
  });
}
