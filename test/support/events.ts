import { ApiError } from "../../shared/api/contract/errors.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import type { EndpointEvent, EndpointMiddleware } from "../../shared/platform/http/event.ts";
import { requestInput } from "../../shared/platform/http/request-input.ts";
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

/** Returns the error of a request by the rules for its body and its query; undefined if they accept it. */
export async function inputErrorOf(
  route: Route,
  input: Parameters<typeof eventFor>[2],
  contentType = "application/json",
): Promise<ApiError | undefined> {
  // Ids are not the subject: a row without its path accepts the same bodies and queries.
  const { params: _params, ...withoutPath } = route;
  try {
    await requestInput(withoutPath).before?.(
      requestOf(eventFor(route, { "content-type": contentType }, input)),
    );
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
