import * as z from "zod/mini";

import { routes as apiKeys } from "./routes/api-keys.ts";
import { routes as auditLog } from "./routes/audit-log.ts";
import { routes as auth } from "./routes/auth.ts";
import { routes as billing } from "./routes/billing.ts";
import { routes as brand } from "./routes/brand.ts";
import { routes as campaigns } from "./routes/campaigns.ts";
import { routes as carriers } from "./routes/carriers.ts";
import { routes as console } from "./routes/console.ts";
import { routes as contacts } from "./routes/contacts.ts";
import { routes as conversations } from "./routes/conversations.ts";
import { routes as credentials } from "./routes/credentials.ts";
import { routes as dashboard } from "./routes/dashboard.ts";
import { routes as docs } from "./routes/docs.ts";
import { routes as exports } from "./routes/exports.ts";
import { routes as health } from "./routes/health.ts";
import { routes as heldMessages } from "./routes/held-messages.ts";
import { routes as hooks } from "./routes/hooks.ts";
import { routes as inbound } from "./routes/inbound.ts";
import { routes as kyc } from "./routes/kyc.ts";
import { routes as mcp } from "./routes/mcp.ts";
import { routes as members } from "./routes/members.ts";
import { routes as optOuts } from "./routes/opt-outs.ts";
import { routes as payments } from "./routes/payments.ts";
import { routes as prices } from "./routes/prices.ts";
import { methodsOfRoute, pathPattern, type Route, type TaggedRoute } from "./routes/route.ts";
import { routes as senderIds } from "./routes/sender-ids.ts";
import { routes as sms } from "./routes/sms.ts";
import { routes as templates } from "./routes/templates.ts";
import { routes as verificationProfiles } from "./routes/verification-profiles.ts";
import { routes as verifications } from "./routes/verifications.ts";
import { routes as wallet } from "./routes/wallet.ts";
import { routes as webhooks } from "./routes/webhooks.ts";

/**
 * All operations of the API, in the order of the document. The stack, the document, the client and the shared tests
 * follow from them. Each row has the name of its operation, whose handler is `functions/<tag>/<operation-in-kebab-case>.ts`.
 * A handler imports its row from a file in `routes/`. A row only names schemas and calls nothing, so that the bundle of a
 * handler contains no other row.
 */
export const routes = {
  ...tagged("health", health),
  ...tagged("auth", auth),
  ...tagged("auth", credentials),
  ...tagged("auth", apiKeys),
  ...tagged("members", members),
  ...tagged("sms", sms),
  ...tagged("verifications", verifications),
  ...tagged("prices", prices),
  ...tagged("campaigns", campaigns),
  ...tagged("conversations", conversations),
  ...tagged("dashboard", dashboard),
  ...tagged("wallet", wallet),
  ...tagged("payments", payments),
  ...tagged("billing", billing),
  ...tagged("webhooks", webhooks),
  ...tagged("hooks", hooks),
  ...tagged("kyc", kyc),
  ...tagged("sender-ids", senderIds),
  ...tagged("contacts", contacts),
  ...tagged("opt-outs", optOuts),
  ...tagged("exports", exports),
  ...tagged("held-messages", heldMessages),
  ...tagged("inbound", inbound),
  ...tagged("templates", templates),
  ...tagged("verification-profiles", verificationProfiles),
  ...tagged("audit-log", auditLog),
  ...tagged("mcp", mcp),
  ...tagged("carriers", carriers),
  ...tagged("brand", brand),
  ...tagged("console", console),
  ...tagged("docs", docs),
} as const satisfies Record<string, TaggedRoute>;

export type Operation = keyof typeof routes;

/** Returns the rows of a file with their tag. */
function tagged<const Tag extends string, const Rows extends Record<string, Route>>(tag: Tag, rows: Rows) {
  const all = Object.entries<Route>(rows).map(([name, row]) => [name, { ...row, tag }]);
  // The compiler does not follow the names of the rows.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(all) as { readonly [Name in keyof Rows]: Rows[Name] & { readonly tag: Tag } };
}

/** The rows of the table with their names. */
export function operations(): [Operation, TaggedRoute][] {
  // The keys of the table are its operations, which the compiler does not say of `Object.entries`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.entries<TaggedRoute>(routes) as [Operation, TaggedRoute][];
}

/** The rows that are for customers. */
export function publicOperations(): [Operation, TaggedRoute][] {
  return operations().filter(([, { internal }]) => internal !== true);
}

/** The methods that a path takes; none when there is no such path. A path without parameters comes first. */
export function methodsOf(path: string): string[] {
  const rows = Object.values<Route>(routes);
  const exact = rows.filter((route) => route.path === path);
  const matching = exact.length > 0 ? exact : rows.filter((route) => pathPattern(route).test(path));
  return matching.flatMap(methodsOfRoute);
}

const knownMethods: ReadonlySet<string> = new Set([
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT",
]);
const maxShapeSegments = 6;

/**
 * Names a request without a route, for the log. Parts of its path that occur in no route may be a number, a name or a
 * token, so they become `{}`.
 */
export function shapeOf(method: string, path: string): string {
  const known = new Set(Object.values<Route>(routes).flatMap((route) => route.path.split("/")));
  const segments = path.split("/", maxShapeSegments + 2).slice(1);
  const shape = segments
    .slice(0, maxShapeSegments)
    .map((segment) => (known.has(segment) && !segment.startsWith("{") ? segment : "{}"));
  const rest = segments.length > maxShapeSegments ? ["…"] : [];
  return `${knownMethods.has(method) ? method : "OTHER"} /${[...shape, ...rest].join("/")}`;
}

/** Responds to requests without a route: 405 if the path has other methods, otherwise 404. */
export const fallbackRoute = {
  method: "GET",
  path: "/{path+}",
  tag: "fallback",
  summary: "Not found",
  internal: true,
  auth: "none",
  data: z.never(),
  alternatives: ["text/html"],
  errors: ["NOT_FOUND", "METHOD_NOT_ALLOWED"],
} as const satisfies TaggedRoute;
