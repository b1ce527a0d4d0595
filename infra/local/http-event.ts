import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

import type { APIGatewayProxyEventV2 } from "aws-lambda";

import { localAccountId } from "./references.ts";

/** Content types whose bodies an HTTP API passes as text; all others it passes as base64. */
const textTypes =
  /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded)|application\/[\w.-]+\+(json|xml))/i;

/** The parts of a request that the HTTP API has read. */
interface RequestParts {
  readonly url: URL;
  readonly body: Buffer;
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Returns a request as an event of payload format 2.0. */
export function eventOf(
  request: IncomingMessage,
  { url, body, routeKey, pathParameters }: RequestParts,
): APIGatewayProxyEventV2 {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    // Events have cookies in a list of their own.
    if (value !== undefined && name !== "cookie") headers[name] = [value].flat().join(",");
  }
  const cookies = request.headers.cookie?.split(/; */);
  // As text, bytes that are not UTF-8 would become other characters.
  const isText = textTypes.test(headers["content-type"] ?? "text/plain") && isUtf8(body);
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    query[name] = query[name] === undefined ? value : `${query[name]},${value}`;
  }
  const at = new Date();
  return {
    version: "2.0",
    routeKey,
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers,
    ...(cookies === undefined ? {} : { cookies }),
    ...(url.search.length > 1 ? { queryStringParameters: query } : {}),
    ...(Object.keys(pathParameters).length > 0 ? { pathParameters } : {}),
    requestContext: {
      accountId: localAccountId,
      apiId: "local",
      domainName: headers["host"] ?? "localhost",
      domainPrefix: "localhost",
      http: {
        method: request.method ?? "GET",
        path: url.pathname,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey,
      stage: "$default",
      time: at.toISOString(),
      timeEpoch: at.getTime(),
    },
    ...(body.byteLength > 0 ? { body: body.toString(isText ? "utf8" : "base64") } : {}),
    isBase64Encoded: body.byteLength > 0 && !isText,
  };
}
