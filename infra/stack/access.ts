import { readFileSync } from "node:fs";
import path from "node:path";

import { projectRoot } from "@sms-gateway/build/project-root.ts";

import { keepsResponse, type Route } from "../../shared/api/routes/route.ts";
import { queueNames, type QueueName } from "../../shared/platform/queue-names.ts";
import { keyFamilies, type KeyFamily } from "../../shared/platform/table/key-families.ts";

/** The file with the permissions of each function. Its comments explain its parts. */
export const permissionsFile = path.join(projectRoot, "infra/stack/permissions.txt");

export const tableActions = [
  "BatchGetItem",
  "ConditionCheckItem",
  "DeleteItem",
  "GetItem",
  "PutItem",
  "Query",
  "UpdateItem",
] as const;
type TableAction = (typeof tableActions)[number];

/** The permissions besides those on the table and the queues. `permissions.txt` explains each of them. */
export const capabilities = [
  "brand",
  "brandImages",
  "callbackSecrets",
  "carrier",
  "checkSessions",
  "commit",
  "email",
  "links",
  "paymentProvider",
  "paymentTerms",
  "readDocuments",
  "secondFactorKey",
  "startSessions",
  "verificationKey",
  "webhookKey",
  "writeDocuments",
] as const;
export type Capability = (typeof capabilities)[number];

/** Returns each word of each line, with the text before it: `sendSms PutItem: LEDGER`. */
export function readEntries(text: string): Set<string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Set(
    lines.flatMap((line) => {
      const [beginning, words = ""] = line.split(": ");
      return words.split(" ").map((word) => `${beginning}: ${word}`);
    }),
  );
}

/** Returns entries as sorted lines, with one line for each kind of access of a function. */
export function linesOf(entries: Iterable<string>): string[] {
  const byLine = Map.groupBy([...entries].toSorted(), (entry) => entry.replace(/: .*/, ""));
  return [...byLine].map(
    ([beginning, ofLine]) => `${beginning}: ${ofLine.map((entry) => entry.replace(/.*: /, "")).join(" ")}`,
  );
}

const entriesByName: ReadonlyMap<string, string[]> = Map.groupBy(
  readEntries(readFileSync(permissionsFile, "utf8")),
  (entry) => entry.replace(/ .*/, ""),
);

/** The permissions of a function. Its role allows only these, on the local gateway as in AWS. */
export class Access {
  /** The names in the file whose lines are for the function. */
  readonly names: readonly string[];
  /** Their entries without the names: `PutItem: LEDGER`. */
  readonly #entries: ReadonlySet<string>;

  /** @param route of an endpoint, from which some permissions follow */
  constructor(name: string, route?: Route) {
    this.names = [
      name,
      ...(route === undefined ? [] : ["endpoint"]),
      ...(route === undefined || route.auth === "none" ? [] : ["authenticated"]),
      ...(route !== undefined && keepsResponse(route) ? ["idempotent"] : []),
      ...(route?.audited === undefined ? [] : ["audited"]),
    ];
    const entries = this.names.flatMap((each) => entriesByName.get(each) ?? []);
    this.#entries = new Set(entries.map((entry) => entry.replace(/^\S+ /, "")));
  }

  may(capability: Capability): boolean {
    return this.#has("may", capability);
  }

  /** Returns the families whose items allow an action, in one order for all policies. */
  familiesOf(action: TableAction): KeyFamily[] {
    return keyFamilies.filter((family) => this.#has(action, family));
  }

  /** Returns the other families of the transactions with an action. */
  familiesBeside(action: TableAction): KeyFamily[] {
    return keyFamilies.filter(
      (family) => this.#has(`${action} beside`, family) && !this.#has(action, family),
    );
  }

  /** Whether it may list the pending work. */
  get listsPendingWork(): boolean {
    return this.#has("indexes", "pendingWork");
  }

  /** The queues to which it may send. */
  get queues(): QueueName[] {
    return queueNames.filter((queue) => this.#has("queues", queue));
  }

  #has(kind: string, word: string): boolean {
    return this.#entries.has(`${kind}: ${word}`);
  }
}
