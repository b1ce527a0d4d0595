import { errorCatalogue } from "../contract/errors.ts";
import { remedies } from "../contract/remedies.ts";
import type { Operation, routes } from "../routes.ts";

/*
 * The words of the OpenAPI document that belong to no single operation.
 */

type Tag = (typeof routes)[Operation]["tag"];

/** What each tag is about, in the order of the document. */
export const tagDescriptions: Readonly<Record<Tag, string>> = {
  health: "Whether the gateway is there.",
  auth: "Accounts, sessions and API keys.",
  members: "Who belongs to the organisation, and what they may do there.",
  sms: "Messages and what became of them.",
  prices: "What messages cost.",
  campaigns: "One text to many contacts.",
  dashboard: "Figures at a glance.",
  wallet: "Prepaid money: the balance and the ledger behind it.",
  webhooks: "Where the gateway calls when a message reaches its outcome.",
  kyc: "Who the organisation is: submitted once, decided by the operator.",
  "sender-ids": "Names to send under: requested here, decided by the operator.",
  contacts: "People to write to.",
  "opt-outs": "Numbers that want no marketing.",
  inbound: "What people write to your numbers.",
  templates: "Texts to use again.",
  "audit-log": "Who changed what, and when.",
  carriers:
    "Where the carriers of the gateway's operator report receipts and replies; nothing for customers.",
  console: "A page to do all of this from, without writing code.",
  docs: "What you are reading.",
};

/** The catalogue of errors as a Markdown table. */
export function errorTable(): string {
  const remedyOf: Readonly<Record<string, string>> = remedies;
  const rows = Object.entries(errorCatalogue).map(([code, { status, message }]) => [
    `\`${code}\``,
    String(status),
    markdown(message),
    markdown(remedyOf[code] ?? ""),
  ]);
  return [["Code", "Status", "What it means", "What to do"], ["---", "---", "---", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** A text of the catalogue in Markdown, where what stands in angle brackets would be taken for HTML. */
export function markdown(text: string): string {
  return text.replaceAll("<", "\\<");
}

/** The document's description: what holds for all operations. */
export const introduction = `Register, top up, send: the three calls under **auth**, **wallet** and **sms** are all it takes to see a
message go out. On this page, *Authorize* takes the \`token\` of the registration and puts it on every call.

## Requests and responses

Bodies are JSON. A success is \`{ "data": … }\`; a list is \`{ "data": […], "meta": … }\`, read page by page with \`page\` and
\`limit\`, or on from \`meta.nextCursor\` with \`cursor\`. Answers may get new fields:
ignore those that you do not know. A send, an estimate, a campaign, a top-up and the query of a list are refused with a
field that the operation does not know; in other requests such fields are ignored. Times are ISO 8601 in UTC, amounts are in USD, and ids of one kind sort by the time they were made.

Every response of an operation carries \`X-Request-Id\`; name it when you ask for help. Operations with an
\`Idempotency-Key\` header can be repeated safely: within 24 hours the same request with the same key gets the first answer
again, with \`Idempotent-Replayed: true\`. A request that failed is not kept.

## Credentials

\`Authorization: Bearer\` takes the token of a session or the secret of an API key. Each operation names the scope that it
needs: \`read\` for what changes nothing, \`send\` for messages and the names they come from, \`contacts\` (opt-outs too), \`campaigns\`
(templates too), \`webhooks\`, \`billing\` (top-ups and KYC) and \`keys\` (API keys). A key may be given some of them, an
end, and the addresses it is used from; it makes no key that may more than itself. A session may what the role of its
person may: owners and admins everything, developers all but \`billing\`, viewers \`read\`. Who belongs to an organisation
owners and admins decide, and never an API key.

## Errors

An error is \`{ "error": { code, message, requestId, details? } }\`; decide by \`code\`, show \`message\` to a person. What the
gateway's front door answers before any operation is reached is \`{ "message": … }\`.

${errorTable()}

## Webhooks

A call carries \`X-Service-Signature\`, the hex HMAC-SHA256 of the raw body keyed with the endpoint's secret as it stands.
Compute it over the bytes as received, compare in constant time, and refuse what differs. Answer with a 2xx at once, and be
idempotent on \`data.id\`.`;
