import { GetObjectCommand, PutObjectCommand, S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import type { AwsCommand } from "../../shared/platform/aws/client.ts";
import { S3 } from "../../shared/platform/aws/s3.ts";
import { startAwsServer, useAwsServer, type AwsServer } from "../support/aws-server.ts";

/*
 * Compares our client of S3 with the SDK's, which has inputs and outputs in headers and paths, and errors in XML.
 */

let server: AwsServer;
beforeAll(async () => {
  server = await startAwsServer();
});
beforeEach(() => {
  useAwsServer(server);
  return () => vi.unstubAllEnvs();
});
afterAll(async () => server.stop());

const ours = new S3({ maxAttempts: 1 });
const theirs = (): { send(command: object): Promise<object> } =>
  Object(
    new S3Client({
      region: "eu-west-1",
      credentials: { accessKeyId: "key", secretAccessKey: "secret" },
      maxAttempts: 1,
      // Otherwise it also sends a CRC. The hash of the signature protects a body as well.
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
  );

const body = "%PDF-1.7 \u00e9\u{1F600}";
const Bucket = "documents";
const put = (Key: string): PutObjectCommand =>
  new PutObjectCommand({
    Bucket,
    Key,
    Body: Buffer.from(body),
    ContentType: "application/pdf",
    IfNoneMatch: "*",
  });
const get = (Key: string): GetObjectCommand => new GetObjectCommand({ Bucket, Key });

function respond(status: number, content: string, headers: Readonly<Record<string, string>> = {}): void {
  server.respond(
    (_, response) => void response.writeHead(status, { "x-amz-request-id": "r-1", ...headers }).end(content),
  );
}

/** Sends the same command with both. @returns the requests and the outcomes */
async function both(make: () => AwsCommand<object>): Promise<{ asked: object[]; outcomes: unknown[] }> {
  server.received.length = 0;
  const outcomes = [await outcomeOf(ours.send(make())), await outcomeOf(theirs().send(make()))];
  const asked = server.received.map(({ path, headers, body: sent }) => {
    const { authorization = "" } = headers;
    const { host, "content-type": type, "content-length": length } = headers;
    const { "if-none-match": condition, "x-amz-content-sha256": digest } = headers;
    const scope = /Credential=[^/]+\/\d+\/([^,]+)/.exec(authorization)?.[1];
    return { path, host, type, length: length ?? "0", condition, digest, scope, sent };
  });
  return { asked, outcomes };
}

async function outcomeOf(sending: Promise<object>): Promise<unknown> {
  try {
    const { $metadata, Body, ...output }: Record<string, unknown> = { ...(await sending) };
    const bytes: unknown = await Object(Body).transformToByteArray?.();
    const content = bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : undefined;
    const { httpStatusCode, requestId } = Object($metadata);
    // The SDK has an object of them even for none.
    delete output["Metadata"];
    return { output, content, httpStatusCode, requestId };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { $metadata, $fault }: Record<string, unknown> = Object(error);
    const { name, message } = error;
    return { class: error.constructor, name, message, $fault, status: Object($metadata).httpStatusCode };
  }
}

it.each(["org_1/INV-2026-000001.pdf", "a b/ü'(!)*~+&=?#%.pdf"])("stores %s as the SDK does", async (key) => {
  respond(200, "", { etag: '"e"', "x-amz-version-id": "v" });
  const { asked, outcomes } = await both(() => put(key));
  expect(asked[0]).toEqual(asked[1]);
  expect(asked[0]).toMatchObject({ condition: "*", type: "application/pdf", sent: body });
  expect(outcomes[0]).toEqual(outcomes[1]);
  expect(outcomes[0]).toMatchObject({ output: { ETag: '"e"', VersionId: "v" }, requestId: "r-1" });
});

it("reads an object as the SDK does", async () => {
  respond(200, body, {
    "content-type": "application/pdf",
    "last-modified": "Mon, 02 Mar 2026 12:00:00 GMT",
    etag: '"e"',
    "x-amz-server-side-encryption-bucket-key-enabled": "true",
  });
  const { asked, outcomes } = await both(() => get("org_1/INV-2026-000001.pdf"));
  expect(asked[0]).toEqual(asked[1]);
  expect(outcomes[0]).toEqual(outcomes[1]);
  expect(outcomes[0]).toMatchObject({
    content: body,
    output: {
      ContentType: "application/pdf",
      LastModified: new Date("2026-03-02T12:00:00Z"),
      BucketKeyEnabled: true,
    },
  });
});

describe("an error is the SDK's", () => {
  it.each([
    [404, "NoSuchKey"],
    [404, "NoSuchBucket"],
    [403, "AccessDenied"],
    [412, "PreconditionFailed"],
    [409, "ConditionalRequestConflict"],
    [503, "SlowDown"],
  ])("%s %s", async (status, code) => {
    const message = "It is not there.";
    respond(status, `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`);
    const { outcomes } = await both(() => get("x"));
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]).toMatchObject({ name: code, message });
  });

  it("or its base class, for a page of a proxy", async () => {
    respond(502, "<html><body>Bad gateway</body></html>");
    await expect(ours.send(get("x"))).rejects.toBeInstanceOf(S3ServiceException);
  });
});

it("a conflict of two writes of an object is repeated", async () => {
  let responses = 0;
  server.respond((_, response) => {
    responses += 1;
    if (responses === 2) response.writeHead(200).end();
    else response.writeHead(409).end("<Error><Code>ConditionalRequestConflict</Code></Error>");
  });
  await new S3({ maxUnheardAttempts: 1 }).send(put("x"));
  expect(responses).toBe(2);
});

describe("a bucket is where the SDK looks for it", () => {
  const endpointOf = (input: object, region: string): string => {
    const client: { endpointFor(of: object, in_: string): URL } = Object(ours);
    return client.endpointFor(input, region).href;
  };

  it.each(["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])("in %s", (Region) => {
    vi.stubEnv("AWS_ENDPOINT_URL", "");
    const { endpointProvider } = new S3Client({ region: Region }).config;
    expect(endpointOf({ Bucket }, Region)).toBe(endpointProvider({ Region, Bucket }).url.href);
  });

  it("at an endpoint of the environment it is a folder", () => {
    vi.stubEnv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1/s3/");
    expect(endpointOf({ Bucket }, "eu-west-1")).toBe("http://127.0.0.1:1/s3/documents");
  });
});
