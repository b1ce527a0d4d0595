import { ApiError, errorCatalogue } from "../../api/contract/errors.ts";
import { SendLimits } from "../../api/contract/key-limits.ts";
import type { Route } from "../../api/routes/route.ts";
import { viewerOf, type Actor } from "../auth/actor.ts";
import {
  digestOfNumber,
  writeAuditEntry,
  writeAuditOutcome,
  type AuditActor,
  type Ending,
} from "../table/audit-log.ts";
import { undefinedIfUnreadable } from "../table/records.ts";
import type { EndpointEvent, EndpointMiddleware } from "./event.ts";
import { routeName, type Call } from "./pipeline.ts";
import { sourceAddress } from "./source-address.ts";

/** The middlewares that write a request to its organization's audit log. */
interface AuditLog {
  /** Runs after all checks and the idempotency: requests that get there will be executed. */
  readonly begin: readonly EndpointMiddleware[];
  /** Runs before the idempotency, which recognizes errors of requests that were executed. */
  readonly end: readonly EndpointMiddleware[];
}

/** Reads the state before a request, in the form of the response. */
type ReadBefore<R extends Route> = (call: Pick<Call<R>, "actor" | "params" | "viewer">) => Promise<unknown>;

/** The options of a route for the audit log. */
export interface Auditing<R extends Route> {
  /** Reads the state before the request. Its errors become the response. */
  readonly readBefore?: ReadBefore<R>;
  /** Selects the requests to record. Some operations record only certain changes. */
  readonly isAudited?: (call: Pick<Call<R>, "body">) => boolean;
}

/** Writes the requests of an audited route to the audit log: an entry before each, and its outcome after. */
export function auditLog<R extends Route>(
  route: R,
  { readBefore, isAudited = () => true }: Auditing<R> = {},
): AuditLog {
  const { audited } = route;
  if (audited === undefined) return { begin: [], end: [] };
  const begin: EndpointMiddleware = {
    before: async ({ event }) => {
      const { actor, input, replayed } = event;
      if (actor === undefined || replayed !== undefined) return;
      // The log has what a test key tried to do to live data, too.
      const viewer = { ...viewerOf(actor), isTest: false };
      const call = { actor, viewer, params: input?.params, body: input?.body };
      // The route's schemas have checked the parameters, which the compiler cannot follow through the generic.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const ofRoute = call as unknown as Call<R>;
      if (!isAudited(ofRoute)) return;
      const before = await readBefore?.(ofRoute).catch(undefinedIfUnreadable);
      const { organizationId } = actor;
      event.auditEntry = await writeAuditEntry({
        organizationId,
        actor: actorOf(actor),
        action: routeName(route),
        subject: factsOf(organizationId, input?.params),
        sourceAddress: sourceAddress(event),
        requestId: event.requestContext.requestId,
        before: factsOf(organizationId, before, audited),
      });
    },
  };
  const writeEnding = async (event: EndpointEvent, ending: Ending): Promise<void> => {
    if (event.auditEntry !== undefined) await writeAuditOutcome(event.auditEntry, ending);
  };
  const end: EndpointMiddleware = {
    after: async ({ event, response }) =>
      writeEnding(event, {
        outcome: "done",
        after: factsOf(event.auditEntry?.organizationId, response, audited),
      }),
    onError: async ({ event, response, error }) =>
      writeEnding(event, response === undefined ? endingOf(error) : { outcome: "done" }),
  };
  return { begin: [begin], end: [end] };
}

function actorOf({ userId, credential }: Actor): AuditActor {
  return credential.type === "session"
    ? { type: "user", userId, sessionId: credential.sessionId }
    : { type: "apiKey", keyId: credential.keyId, userId };
}

/** After a server error it is unknown how far the request came. */
function endingOf(error: unknown): Ending {
  if (!(error instanceof ApiError)) return { outcome: "unknown", errorCode: "INTERNAL" };
  const { code } = error;
  return { outcome: errorCatalogue[code].status < 500 ? "refused" : "unknown", errorCode: code };
}

/** The named fields of an object, or all. Digests replace phone numbers. */
function factsOf(
  organizationId: string | undefined,
  value: unknown,
  names?: readonly string[],
): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const named = Object.entries(value).filter(([name]) => names?.includes(name) ?? true);
  const digestOf = (number: string): string => digestOfNumber(organizationId ?? "", number);
  return Object.fromEntries(
    named.map(([name, fact]): [string, unknown] => {
      if (name === "phoneNumber") return ["phoneNumberDigest", digestOf(String(fact))];
      if (name !== "limits" || fact === undefined) return [name, fact];
      const { allowedRecipients, ...limits } = SendLimits.parse(fact);
      return [name, { ...limits, recipientDigests: allowedRecipients?.map(digestOf) }];
    }),
  );
}
