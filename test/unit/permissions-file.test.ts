import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { kindsOfAccess } from "../../infra/local/permissions.ts";
import {
  capabilities,
  linesOf,
  permissionsFile,
  readEntries,
  tableActions,
} from "../../infra/stack/access.ts";
import { accessNameOf, roles } from "../../infra/stack/operator-roles.ts";
import { workers } from "../../infra/stack/workers.ts";
import { routes } from "../../shared/api/routes.ts";
import { queueNames } from "../../shared/platform/queue-names.ts";
import { keyFamilies } from "../../shared/platform/table/key-families.ts";

const wordsOfKind = new Map<string, readonly string[]>([
  ...tableActions.flatMap((action) =>
    [action, `${action} beside`].map((kind): [string, readonly string[]] => [kind, keyFamilies]),
  ),
  ["indexes", ["pendingWork"]],
  ["queues", queueNames],
  ["may", capabilities],
]);

describe("the file of permissions", () => {
  const parts = readFileSync(permissionsFile, "utf8").trim().split("\n\n");
  const fromRoutes = ["audited", "authenticated", "endpoint", "idempotent"];
  const names = new Set([
    "notFound",
    ...Object.keys(routes),
    ...Object.keys(workers),
    ...roles.map(accessNameOf),
  ]);

  it("has three parts, of which the first is for the properties of routes", () => {
    const [ofRoutes, ...others] = parts.map((part) => new Set([...readEntries(part)].map(nameOf)));
    expect(ofRoutes).toEqual(new Set(fromRoutes));
    expect(others).toHaveLength(2);
    for (const other of others) expect(other.difference(names)).toEqual(new Set());
  });

  it("names each permission once, in sorted lines", () => {
    for (const part of parts) {
      const lines = part.split("\n").filter((line) => !line.startsWith("#"));
      expect(lines).toEqual(linesOf(readEntries(part)));
    }
    const entries = parts.flatMap((part) => [...readEntries(part)]);
    expect(new Set(entries).size).toBe(entries.length);
  });

  it("has only kinds of access, families, queues and capabilities that exist", () => {
    const unknown = parts
      .flatMap((part) => [...readEntries(part)])
      .filter((entry) => {
        const [kind = "", word = ""] = entry.slice(nameOf(entry).length + 1).split(": ");
        return wordsOfKind.get(kind)?.includes(word) !== true;
      });
    expect(unknown).toEqual([]);
  });
});

function nameOf(entry: string): string {
  return entry.replace(/ .*/, "");
}

describe("the record of a request has", () => {
  const item = (pk: string): object => ({ TableName: "table", Key: { pk: { S: pk } } });

  it("the families of each write of a transaction, and those beside it", () => {
    const TransactItems = [{ Update: item("WALLET#1") }, { Delete: item("ORG#1") }];
    expect(kindsOfAccess("dynamodb:TransactWriteItems", { TransactItems })).toEqual([
      "UpdateItem: WALLET",
      "UpdateItem beside: ORG",
      "DeleteItem: ORG",
      "DeleteItem beside: WALLET",
    ]);
  });

  it("the queue, the index or the family of another request", () => {
    expect(kindsOfAccess("sqs:SendMessage", { QueueUrl: "http://127.0.0.1/1/EmailsQueue0A1B2C3D" })).toEqual([
      "queues: emails",
    ]);
    const query = {
      TableName: "table",
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :sk)",
      ExpressionAttributeValues: { ":pk": { S: "ORG#1" } },
    };
    expect(kindsOfAccess("dynamodb:Query", query)).toEqual(["Query: ORG"]);
    expect(kindsOfAccess("dynamodb:Query", { ...query, IndexName: "agenda" })).toEqual([
      "indexes: pendingWork",
    ]);
    expect(kindsOfAccess("dynamodb:GetItem", item("WALLET#1"))).toEqual(["GetItem: WALLET"]);
  });

  it("nothing for a scan, which no role allows, or for another service", () => {
    expect(kindsOfAccess("dynamodb:Scan", { TableName: "table" })).toEqual([]);
    expect(kindsOfAccess("kms:Sign", { KeyId: "SessionKey" })).toEqual([]);
  });
});
