import { AwsClient, type AwsClientOptions, type CommandRequest } from "./client.ts";
import { AwsCommand } from "./command.ts";
import { endpointOf, namedEndpoint } from "./endpoint.ts";
import type { AwsResponse } from "./errors.ts";
import { encodedPath } from "./signature.ts";

export interface ObjectPlace {
  readonly Bucket: string;
  readonly Key: string;
}

interface NewObject extends ObjectPlace {
  readonly Body: Uint8Array;
  readonly ContentType: string;
  /** It is not written if one exists. */
  readonly IfNoneMatch: "*";
}

export class PutObjectCommand extends AwsCommand<NewObject> {
  readonly operation = "PutObject";
}

export class GetObjectCommand extends AwsCommand<ObjectPlace, { readonly Body?: Uint8Array }> {
  readonly operation = "GetObject";
}

const service = {
  id: "S3",
  hostPrefix: "s3",
  signingName: "s3",
  contentType: "application/octet-stream",
} as const;

/** S3, for one object at a time. A body is the object's content. */
export class S3 extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(service, options);
  }

  /** Returns the bucket's host, or an endpoint of the environment with the bucket in its path. */
  protected override endpointFor(input: object, region: string): URL {
    const { Bucket }: ObjectPlace = Object(input);
    const endpoint = endpointOf(service, region);
    return namedEndpoint(service.id)
      ? new URL(`${endpoint.pathname.replace(/\/$/, "")}/${Bucket}`, endpoint)
      : new URL(`https://${Bucket}.${endpoint.host}`);
  }

  protected override requestOf({ operation, input }: AwsCommand): CommandRequest {
    const { Key, Body, ContentType, IfNoneMatch }: NewObject = Object(input);
    const place = { path: `/${encodedPath(Key)}`, query: `x-id=${operation}` };
    if (operation === "GetObject") return { ...place, method: "GET", headers: {}, body: "" };
    const headers = { "content-type": ContentType, "if-none-match": IfNoneMatch };
    return { ...place, method: "PUT", headers, body: Body };
  }

  protected override outputOf(_command: AwsCommand, { bytes }: AwsResponse): object {
    return { Body: bytes };
  }
}
