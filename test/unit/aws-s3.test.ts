import * as sdk from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { GetObjectCommand, PutObjectCommand, S3 } from "../../shared/platform/aws/s3.ts";
import { startAwsServer, useAwsServer, type AwsServer } from "../support/aws-server.ts";

/*
 * Compares our client of S3 with the SDK's, which has inputs in headers and paths, and errors in XML.
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
const theirs = (): sdk.S3Client =>
  new sdk.S3Client({
    region: "eu-west-1",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    maxAttempts: 1,
    // Otherwise it also sends a CRC. The hash of the signature protects a body as well.
    requestChecksumCalculation: "WHEN_REQUIRED",
  });

const body = "%PDF-1.7 \u00e9\u{1F600}";
const Bucket = "documents";
const object = (Key: string): ConstructorParameters<typeof PutObjectCommand>[0] => ({
  Bucket,
  Key,
  Body: Buffer.from(body),
  ContentType: "application/pdf",
  IfNoneMatch: "*",
});

function respond(status: number, content: string): void {
  server.respond((_, response) => void response.writeHead(status).end(content));
}

/** The parts of the requests that both must have. */
function requests(): object[] {
  return server.requests.splice(0).map(({ path, headers, body: sent }) => {
    const { host, "content-type": type, "content-length": length = "0" } = headers;
    const { "if-none-match": condition, "x-amz-content-sha256": digest, authorization = "" } = headers;
    const scope = /Credential=[^/]+\/\d+\/([^,]+)/.exec(authorization)?.[1];
    return { path, host, type, length, condition, digest, scope, sent };
  });
}

it.each(["org_1/INV-2026-000001.pdf", "a b/ü'(!)*~+&=?#%.pdf"])(
  "stores and reads %s as the SDK does",
  async (Key) => {
    respond(200, body);
    await ours.send(new PutObjectCommand(object(Key)));
    await theirs().send(new sdk.PutObjectCommand(object(Key)));
    const [put, expectedPut] = requests();
    expect(put).toEqual(expectedPut);
    expect(put).toMatchObject({ condition: "*", type: "application/pdf", sent: body });
    const { Body = new Uint8Array() } = await ours.send(new GetObjectCommand({ Bucket, Key }));
    expect(Buffer.from(Body).toString()).toBe(body);
    await theirs().send(new sdk.GetObjectCommand({ Bucket, Key }));
    const [get, expectedGet] = requests();
    expect(get).toEqual(expectedGet);
  },
);

describe("an error has the SDK's name and message", () => {
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
    const error = { name: code, message, $metadata: { httpStatusCode: status } };
    await expect(ours.send(new GetObjectCommand({ Bucket, Key: "x" }))).rejects.toMatchObject(error);
    await expect(theirs().send(new sdk.GetObjectCommand({ Bucket, Key: "x" }))).rejects.toMatchObject(error);
  });

  it("or none, for a page of a proxy", async () => {
    respond(502, "<html><body>Bad gateway</body></html>");
    const error = { name: "Unknown", $metadata: { httpStatusCode: 502 } };
    await expect(ours.send(new GetObjectCommand({ Bucket, Key: "x" }))).rejects.toMatchObject(error);
  });
});

it("a conflict of two writes of an object is repeated", async () => {
  let responses = 0;
  server.respond((_, response) => {
    responses += 1;
    if (responses === 2) response.writeHead(200).end();
    else response.writeHead(409).end("<Error><Code>ConditionalRequestConflict</Code></Error>");
  });
  await new S3({ maxUnheardAttempts: 1 }).send(new PutObjectCommand(object("x")));
  expect(responses).toBe(2);
});

describe("a bucket is where the SDK looks for it", () => {
  const endpointOf = (input: object, region: string): string => {
    const client: { endpointFor(of: object, in_: string): URL } = Object(ours);
    return client.endpointFor(input, region).href;
  };

  it.each(["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])("in %s", (Region) => {
    vi.stubEnv("AWS_ENDPOINT_URL", "");
    const { endpointProvider } = new sdk.S3Client({ region: Region }).config;
    expect(endpointOf({ Bucket }, Region)).toBe(endpointProvider({ Region, Bucket }).url.href);
  });

  it("at an endpoint of the environment it is a folder", () => {
    vi.stubEnv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1/s3/");
    expect(endpointOf({ Bucket }, "eu-west-1")).toBe("http://127.0.0.1:1/s3/documents");
  });
});
