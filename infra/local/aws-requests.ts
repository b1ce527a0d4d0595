import { traceAttribute } from "./lineage.ts";
import { deniedPermission } from "./permissions.ts";
import type { FunctionDefinition } from "./template.ts";

/*
 * How a function's request to AWS is judged, and what is added to it: the same in the gateway's own thread and in that of
 * the local store.
 */

/** What a function's role allows, and where that is written. */
export type Permissions = Pick<FunctionDefinition, "description" | "statements">;

export interface AwsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonResponse(status: number, body: unknown): AwsResponse {
  return { status, headers: { "content-type": "application/x-amz-json-1.1" }, body: JSON.stringify(body) };
}

/** An error in the form that every AWS client reads. */
export function errorResponse(type: string, message: string, status = 400): AwsResponse {
  return jsonResponse(status, { __type: type, message });
}

/**
 * What a function is told that asks for what its role does not allow.
 * @param operation for example `dynamodb:UpdateItem`
 * @returns undefined when all of it is allowed
 */
export function accessDenied(
  { statements, description }: Permissions,
  operation: string,
  body: unknown,
): AwsResponse | undefined {
  const denied = deniedPermission(statements, operation, body);
  if (denied === undefined) return undefined;
  return errorResponse("AccessDeniedException", `not authorized to perform ${denied}. ${description}`);
}

/** The body of a request that sends messages, each with the lineage of the call that sends it. */
export function withTrace(body: object, trace: string): object {
  const MessageAttributes = { [traceAttribute]: { DataType: "String", StringValue: trace } };
  if (!("Entries" in body) || !Array.isArray(body.Entries)) return { ...body, MessageAttributes };
  return { ...body, Entries: body.Entries.map((entry: object) => ({ ...entry, MessageAttributes })) };
}
