import path from "node:path";
import { pathToFileURL } from "node:url";

/** The address of a file of the project, as a script that runs elsewhere imports it. */
export function moduleUrl(file: string): string {
  return JSON.stringify(pathToFileURL(path.resolve(file)).href);
}

/** The statement of a script that creates a table in the store `services`. */
export const createTable = `
    await services.request("dynamodb", "CreateTable", {
      TableName: "table",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    }).catch(() => undefined);`;
