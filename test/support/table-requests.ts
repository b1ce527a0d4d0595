import { vi } from "vitest";

import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";

/**
 * Intercepts the requests of this process to the table, until `vi.restoreAllMocks`. The given function receives each
 * request, and a function that sends it to the table.
 */
export function interceptTableRequests(
  answer: (command: object, send: () => Promise<unknown>) => Promise<unknown>,
): void {
  // It is called with its own `this`.
  // oxlint-disable-next-line typescript/unbound-method
  const { send } = DynamoDb.prototype;
  // oxlint-disable-next-line typescript/no-misused-promises
  vi.spyOn(DynamoDb.prototype, "send").mockImplementation(async function (this: DynamoDb, command: object) {
    return Object(await answer(command, async () => Reflect.apply(send, this, [command])));
  });
}
