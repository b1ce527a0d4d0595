import type { AttributeValue, CancellationReason } from "@aws-sdk/client-dynamodb";

/** A response of AWS, or of a local stand-in for it. */
export interface AwsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The body as it came over the network. */
  readonly bytes?: Uint8Array;
}

interface Metadata {
  readonly httpStatusCode?: number;
  readonly requestId?: string;
}

interface Properties extends Partial<
  Pick<AwsError, "$metadata" | "CancellationReasons" | "Item" | "message">
> {
  readonly name: string;
}

/** An error that AWS responded with. It has the name and the members of the response, as the SDK's errors do. */
export class AwsError extends Error {
  readonly $metadata: Metadata;
  /** The item on which the condition of a write failed, as DynamoDB has it. */
  declare readonly Item?: Record<string, AttributeValue>;
  /** One for each write of a transaction. */
  declare readonly CancellationReasons?: readonly CancellationReason[];

  constructor({ message = "UnknownError", $metadata = {}, ...members }: Properties) {
    super(message);
    this.$metadata = $metadata;
    Object.assign(this, members);
  }
}

/** Whether an error is one of AWS with one of these names. */
export function isAwsError(error: unknown, ...names: readonly string[]): error is AwsError {
  return error instanceof AwsError && names.includes(error.name);
}

/** Returns the error of a response. @param parse reads a body */
export function errorOf(answer: AwsResponse, parse: (body: string) => object): AwsError {
  const { status, headers } = answer;
  const body = parsedOrEmpty(answer.body, parse);
  const { __type, code, Code, message, Message, ...details } = Object(body);
  const requestId =
    headers["x-amzn-requestid"] ?? headers["x-amzn-request-id"] ?? headers["x-amz-request-id"];
  return new AwsError({
    ...details,
    name: nameOf(__type ?? code ?? Code ?? headers["x-amzn-errortype"]),
    message: message ?? Message,
    $metadata: { httpStatusCode: status, ...(typeof requestId === "string" ? { requestId } : {}) },
  });
}

/** Returns the name of an error, without its namespace and without a suffix that some services add. */
function nameOf(given: unknown): string {
  return typeof given === "string" ? given.replace(/[,:].*/s, "").replace(/^.*#/s, "") : "Unknown";
}

/** Returns an empty object for a text without an error, because a proxy may respond with a page. */
function parsedOrEmpty(text: string, parse: (body: string) => object): object {
  try {
    return Object(parse(text));
  } catch {
    return xmlElements(text);
  }
}

/** Returns the name and the message of an error of S3. */
function xmlElements(text: string): object {
  const elements = text.matchAll(/<(Code|Message)>([^<]*)</g);
  return Object.fromEntries([...elements].map(([, name, content]) => [name, content]));
}
