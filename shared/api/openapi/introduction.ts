import { errorCatalogue, type ErrorCode } from "../contract/errors.ts";
import { failureReasons } from "../contract/failures.ts";
import { remedies } from "../contract/remedies.ts";
import { sandboxNumbers } from "../contract/sandbox-numbers.ts";
import type { Operation, routes } from "../routes.ts";

/*
 * The words of the OpenAPI document that belong to no single operation.
 */

type Tag = (typeof routes)[Operation]["tag"];

/** A description of each tag, in the order of the document. */
export const tagDescriptions: Readonly<Record<Tag, string>> = {
  health: "The health check of the gateway.",
  auth: "Accounts, sessions and API keys.",
  members: "The members of the organization and their roles.",
  sms: "Messages and their status.",
  verifications: "Codes that prove that a person has a number.",
  prices: "The prices of messages.",
  campaigns: "One text to many contacts.",
  dashboard: "An overview of the account.",
  wallet: "Prepaid money: the balance and its ledger.",
  payments: "Payments by card or bank transfer, and saved cards.",
  billing: "Billing details, auto-recharge, invoices and usage.",
  webhooks: "Endpoints of yours that the gateway calls for each event.",
  hooks: "Addresses that login systems call to send their codes.",
  kyc: "The identity of the organization, submitted for the operator's approval.",
  "sender-ids": "Sender names, requested for the operator's approval.",
  contacts: "People to write to.",
  "opt-outs": "Numbers that want no marketing.",
  exports: "The rows of a list as a CSV file.",
  "held-messages": "Messages of a limited API key that wait for the approval of a person.",
  inbound: "Messages that people send to your numbers.",
  conversations: "The messages between your numbers and each phone.",
  templates: "Reusable message texts.",
  "verification-profiles": "How codes are sent: brand, texts, limits and the guard against fraud.",
  "audit-log": "A record of all changes: the caller, the change and the time.",
  mcp: "A server of the Model Context Protocol, whose tools are these operations.",
  carriers:
    "Callbacks for the operator's carriers: delivery receipts and inbound messages. Not for customers.",
  brand: "The start page and the brand of the operator.",
  console: "A web page for all of these operations, without code.",
  docs: "This documentation.",
};

export const errorCodes = Object.keys(errorCatalogue).filter(
  (code): code is ErrorCode => code in errorCatalogue,
);

/** Returns the catalogue of errors as a Markdown table. */
export function errorTable(): string {
  const rows = errorCodes.map((code) => {
    const { status, message } = errorCatalogue[code];
    return [code, String(status), message, remedies[code]];
  });
  return table(["Code", "Status", "What it means", "What to do"], rows);
}

/** Returns the reasons why messages fail or are not delivered as a Markdown table. */
export function failureTable(): string {
  return table(["Code", "What it means"], Object.entries(failureReasons));
}

/** Returns the outcomes of the sandbox carrier by number as a Markdown table. */
export function sandboxNumberTable(): string {
  const rows = Object.entries(sandboxNumbers).map(([number, { text }]) => [number, text]);
  return table(["Number", "Outcome"], rows);
}

/** Formats rows that begin with a code as a Markdown table. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const marked = rows.map(([code = "", ...cells]) => [`\`${code}\``, ...cells.map(markdown)]);
  return [header, header.map(() => "---"), ...marked].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Escapes a text of the catalogue for Markdown, which would read angle brackets as HTML. */
export function markdown(text: string): string {
  return text.replaceAll("<", "\\<");
}

/** The document's description, which applies to all operations. The guides of the documentation contain the details. */
export const introduction = `To send a first message, follow the [quickstart](/docs/guides/quickstart).

## Requests and responses

Bodies are JSON. A success is \`{ "data": … }\`, a list is \`{ "data": […], "meta": … }\`. Read a list with \`page\` and
\`limit\`, or pass \`meta.nextCursor\` as \`cursor\`. Times are ISO 8601 in UTC. All amounts are in the one currency of the
gateway, which responses state as \`currency\`. Ids of one kind sort by the time of creation.

Responses may get new fields: ignore those that you do not know. Requests that spend money or change something reject
unknown fields, as do all requests about API keys, new webhooks and the queries of lists. Other requests reject an unknown
field if it resembles a known one. In a \`POST\`, \`null\` means that an optional field is absent. It is an error where the
absence would lift a limit or move money.

Every response of an operation has an \`X-Request-Id\`; include it when you contact support. A \`POST\` that
creates something can be [repeated safely](/docs/guides/idempotency) with an \`Idempotency-Key\`.

## Credentials

Send \`Authorization: Bearer\` with the token of a session or the secret of an API key. Each operation lists the
[scope](/docs/guides/going-live#credentials) that it requires. A key cannot create a key with more rights than its own.

## Test keys

Create a test key with \`POST /v1/auth/api-keys\` and \`"test": true\`. Its messages are free, go to no phone, and need no
approval and no balance. The [guide](/docs/guides/test-numbers) has the numbers that decide the outcome.

## Errors

An error is \`{ "error": { code, message, requestId, docUrl?, details? } }\`. Let your code decide by \`code\`, and show
\`message\` to people. If a request does not reach an operation, the response is \`{ "message": … }\`. The documentation has
[all errors](/docs/errors), and the reasons of [failed messages](/docs/guides/errors#failed-messages).

## Webhooks

Each call is signed. The [guide to webhooks](/docs/guides/webhooks) shows how to verify it in six languages. Respond quickly
with a 2xx status, and be idempotent on \`data.id\`.`;
