import type { IncomingMessage } from "node:http";

import { traceAttribute } from "./lineage.ts";
import { isLocalRequest, isUnder } from "./loopback.ts";
import { isRecorded } from "./permission-records.ts";
import { deniedPermission } from "./permissions.ts";
import type { FunctionDefinition } from "./template.ts";

// The checks of a function's request to AWS: the same in the gateway's own thread and in that of the local store.

/** The statements of a function's role, and a description that names the file with them. */
export type Permissions = Pick<FunctionDefinition, "description" | "statements">;

export interface AwsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A body that is not text, instead of the other. */
  readonly bytes?: Uint8Array;
}

export function jsonResponse(status: number, body: unknown): AwsResponse {
  return { status, headers: { "content-type": "application/x-amz-json-1.1" }, body: JSON.stringify(body) };
}

/** Returns an error in the form that every AWS client reads. */
export function errorResponse(type: string, message: string, status = 400): AwsResponse {
  return jsonResponse(status, { __type: type, message });
}

/**
 * Checks that a request comes from a program of this machine that knows the server's address.
 * @param secretPath the first part of the address
 * @returns the error response, or undefined for such a request
 */
export function rejectionOfStranger(
  { headers, url }: IncomingMessage,
  secretPath: string,
): AwsResponse | undefined {
  if (isLocalRequest(headers) && isUnder(secretPath, url)) return undefined;
  return errorResponse(
    "AccessDeniedException",
    "use the address in connections.json of the data folder",
    403,
  );
}

/**
 * Checks a request against the role of its function.
 * @param operation for example `dynamodb:UpdateItem`
 * @returns the error response, or undefined when the role allows the request
 */
export function accessDenied(
  { statements, description }: Permissions,
  operation: string,
  body: unknown,
): AwsResponse | undefined {
  if (isRecorded(description, operation, body)) return undefined;
  const denied = deniedPermission(statements, operation, body);
  if (denied === undefined) return undefined;
  return errorResponse("AccessDeniedException", `not authorized to perform ${denied}. ${description}`);
}

/** Adds the lineage of the sending call to each message of a request. */
export function withTrace(body: object, trace: string): object {
  const traced = (message: { MessageAttributes?: object }): object => ({
    ...message,
    MessageAttributes: {
      ...message.MessageAttributes,
      [traceAttribute]: { DataType: "String", StringValue: trace },
    },
  });
  if (!("Entries" in body) || !Array.isArray(body.Entries)) return traced(body);
  return { ...body, Entries: body.Entries.map(traced) };
}
