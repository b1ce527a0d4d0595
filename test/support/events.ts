import type { Route } from "../../shared/api/routes/route.ts";
import type { EndpointEvent, EndpointMiddleware } from "../../shared/platform/http/event.ts";
import { pathOfNothing } from "./paths.ts";

/** Returns the event of a request to a route, with the fields that the handlers read. */
export function eventFor(
  route: Route,
  headers: Record<string, string>,
  input: Pick<EndpointEvent, "body" | "pathParameters" | "queryStringParameters"> = {},
): EndpointEvent {
  const event: Partial<EndpointEvent> = {
    headers,
    rawPath: pathOfNothing(route),
    rawQueryString: "",
    ...input,
  };
  const requestContext = { requestId: "req_1", http: { method: route.method, sourceIp: "192.0.2.1" } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { ...event, requestContext } as EndpointEvent;
}

type MiddlewareRequest = Parameters<NonNullable<EndpointMiddleware["before"]>>[0];

/** Returns the request that a middleware gets for an event, of which ours read nothing else. */
export function requestOf(event: EndpointEvent): MiddlewareRequest {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { event } as MiddlewareRequest;
}
