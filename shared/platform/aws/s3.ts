import { errorTypeRegistries } from "@aws-sdk/client-s3";
import { NormalizedSchema } from "@smithy/core/schema";

import { AwsClient, type AwsClientOptions, type CommandRequest } from "./client.ts";
import type { CommandParts } from "./command.ts";
import { endpointOf, namedEndpoint } from "./endpoint.ts";
import type { Answer } from "./errors.ts";
import { encodedPath } from "./signature.ts";

const service = {
  id: "S3",
  hostPrefix: "s3",
  signingName: "s3",
  contentType: "application/octet-stream",
  errors: errorTypeRegistries,
} as const;

/**
 * S3, for commands on one object. Their inputs are in the path and the headers of a request, their outputs in the headers of
 * a response. A body is the object's content.
 */
export class S3 extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(service, options);
  }

  /** Returns the bucket's host, or an endpoint of the environment with the bucket in its path. */
  protected override endpointFor(input: object, region: string): URL {
    const { Bucket } = shapeOf(input);
    const endpoint = endpointOf(service, region);
    return namedEndpoint(service.id)
      ? new URL(`${endpoint.pathname.replace(/\/$/, "")}/${Bucket}`, endpoint)
      : new URL(`https://${Bucket}.${endpoint.host}`);
  }

  protected override requestOf(parts: CommandParts): CommandRequest {
    const { operation, method, path, input, inputSchema } = parts;
    const { Key, Body = "" } = shapeOf(input);
    const headers: Record<string, string> = method === "PUT" ? { "content-type": service.contentType } : {};
    for (const [name, { httpHeader }] of membersOf(inputSchema)) {
      const value: unknown = Reflect.get(input, name);
      if (httpHeader === undefined || value === undefined) continue;
      if (typeof value !== "string") throw new Error(`the ${name} of ${operation} is not a text`);
      headers[httpHeader.toLowerCase()] = value;
    }
    const [template = "", query = ""] = path.split("?");
    return { method, path: template.replace("{Key+}", () => encodedPath(Key)), query, headers, body: Body };
  }

  protected override outputOf({ outputSchema }: CommandParts, { headers, bytes }: Answer): object {
    const output: Record<string, unknown> = {};
    for (const [name, { httpHeader = "", httpPayload }, schema] of membersOf(outputSchema)) {
      const value = headers[httpHeader.toLowerCase()];
      if (typeof value === "string") output[name] = valueOf(schema, value);
      if (httpPayload === 1) output[name] = { transformToByteArray: async () => bytes };
    }
    return output;
  }
}

interface Shape {
  readonly Bucket: string;
  readonly Key: string;
  readonly Body?: Uint8Array | string;
}

function shapeOf(input: object): Shape {
  return Object(input);
}

interface Traits {
  readonly httpHeader?: string;
  readonly httpPayload?: 1;
}

function membersOf(schema: CommandParts["inputSchema"]): [string, Traits, NormalizedSchema][] {
  const members = NormalizedSchema.of(schema).structIterator();
  return [...members].map(([name, member]) => [name, Object(member.getMergedTraits()), member]);
}

function valueOf(schema: NormalizedSchema, header: string): unknown {
  if (schema.isNumericSchema()) return Number(header);
  if (schema.isBooleanSchema()) return header === "true";
  return schema.isTimestampSchema() ? new Date(header) : header;
}
