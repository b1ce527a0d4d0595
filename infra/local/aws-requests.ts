import { traceAttribute } from "./lineage.ts";
import { deniedAsk } from "./permissions.ts";
import type { FunctionDefinition } from "./template.ts";

/*
 * How a function's request to AWS is judged, and what is changed in it for an emulator: the same in the gateway's own
 * thread and in those of the functions.
 */

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
export function refusalOf(
  { statements, description }: Pick<FunctionDefinition, "description" | "statements">,
  operation: string,
  body: unknown,
): AwsResponse | undefined {
  const denied = deniedAsk(statements, operation, body);
  if (denied === undefined) return undefined;
  return errorResponse("AccessDeniedException", `not authorized to perform ${denied}. ${description}`);
}

/** A signature's header under another access key. It is then wrong, which no emulator looks at. */
export function underAccessKey(authorization: string, accessKeyId: string): string {
  return authorization.replace(/(?<=Credential=)[^/]+/, accessKeyId);
}

/** The body of a request that sends messages, each with the lineage of the call that sends it. */
export function withTrace(body: object, trace: string): object {
  const MessageAttributes = { [traceAttribute]: { DataType: "String", StringValue: trace } };
  if (!("Entries" in body) || !Array.isArray(body.Entries)) return { ...body, MessageAttributes };
  return { ...body, Entries: body.Entries.map((entry: object) => ({ ...entry, MessageAttributes })) };
}
