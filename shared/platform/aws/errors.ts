import type { AwsService } from "./service.ts";
import { fromWire, type Schema } from "./wire.ts";

/** A response of AWS, or of a local stand-in for it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The body as it came over the network. */
  readonly bytes?: Uint8Array;
}

/** The metadata that the SDK keeps of a response. */
export interface Metadata {
  readonly httpStatusCode: number;
  readonly requestId?: string;
}

export function metadataOf({ status, headers }: Answer): Metadata {
  const requestId =
    headers["x-amzn-requestid"] ?? headers["x-amzn-request-id"] ?? headers["x-amz-request-id"];
  return { httpStatusCode: status, ...(typeof requestId === "string" ? { requestId } : {}) };
}

/** Returns the error of a response, in the SDK's class for it, or in the base class of the service's errors. */
export function errorOf(service: AwsService, answer: Answer): Error {
  const body = parsedOrEmpty(answer.body);
  const name = nameOf(body, answer);
  const known = classOf(service, name);
  const members = fromWire(known.schema, body);
  const { __type, message, Message, ...others } = Object(members);
  const $metadata = metadataOf(answer);
  const $fault = answer.status < 500 ? "client" : "server";
  const error: unknown = new known.Class({ $metadata, $fault, name });
  if (!(error instanceof Error)) throw new Error(`${name} is no class of errors`);
  return Object.assign(error, others, { $metadata, message: String(message ?? Message ?? "UnknownError") });
}

interface ErrorClass {
  readonly schema: Schema;
  readonly Class: new (options: object) => unknown;
}

function classOf({ errors, id }: AwsService, name: string): ErrorClass {
  for (const registry of errors) {
    const schema = registry.find((each) => isError(each) && each[2] === name);
    if (isError(schema)) return { schema, Class: registry.getErrorCtor(schema) };
  }
  for (const registry of errors) {
    const schema = registry.getBaseException();
    if (schema !== undefined) return { schema, Class: registry.getErrorCtor(schema) };
  }
  throw new Error(`${id} has no errors`);
}

type ErrorSchema = NonNullable<ReturnType<AwsService["errors"][number]["getBaseException"]>>;

function isError(schema: unknown): schema is ErrorSchema {
  return Array.isArray(schema) && schema[0] === -3;
}

/** Returns the name of an error, without its namespace and without a suffix that some services add. */
function nameOf(body: object, { headers }: Answer): string {
  const { __type, code, Code } = Object(body);
  const given: unknown = __type ?? code ?? Code ?? headers["x-amzn-errortype"];
  if (typeof given !== "string") return "Unknown";
  return given.replace(/[,:].*/s, "").replace(/^.*#/s, "");
}

/** Returns an empty object for a text without an error, because a proxy may respond with a page. */
function parsedOrEmpty(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return xmlElements(text);
  }
}

/** Returns the name and the message of an error of S3. */
function xmlElements(text: string): object {
  const elements = text.matchAll(/<(Code|Message)>([^<]*)</g);
  return Object.fromEntries([...elements].map(([, name, content]) => [name, content]));
}
