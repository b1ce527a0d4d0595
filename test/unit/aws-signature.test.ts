import { Hash } from "@smithy/core/serde";
import { SignatureV4 } from "@smithy/signature-v4";
import fc from "fast-check";
import { expect, it } from "vitest";

import { encodedPath, signedHeaders } from "../../shared/platform/aws/signature.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * The signature of a request, against the SDK's own signer.
 */

const word = fc.stringMatching(/^[A-Za-z0-9/+=]{1,40}$/);
const requests = fc.record({
  path: fc
    .array(fc.stringMatching(/^[A-Za-z0-9._~%!'()*@:-]{1,12}$/), { maxLength: 4 })
    .filter((segments) => segments.every((segment) => !/^\.+$/.test(segment)))
    .map((segments) => `/${segments.join("/")}`),
  body: fc.string({ unit: "binary" }),
  target: fc.string(),
  host: fc.domain(),
  credentials: fc.record(
    { accessKeyId: word, secretAccessKey: word, sessionToken: word },
    { requiredKeys: ["accessKeyId", "secretAccessKey"] },
  ),
  region: fc.constantFrom("eu-west-1", "us-east-1", "cn-north-1"),
  service: fc.constantFrom("dynamodb", "sqs", "ses", "s3"),
  query: fc.constantFrom("", "x-id=GetObject"),
  at: fc.date({ min: new Date("2020-01-01"), max: new Date("2040-01-01"), noInvalidDate: true }),
});

it("a request is signed as the SDK signs it", async () => {
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const { path: given, query, body, target, host, credentials, region, service, at } = request;
      // A path of S3 is signed as it is sent, so it must be encoded.
      const path = service === "s3" ? encodedPath(given) : given;
      const headers = {
        host,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": target,
      };
      const signer = new SignatureV4({
        credentials,
        region,
        service,
        sha256: Hash.bind(null, "sha256"),
        applyChecksum: service === "s3",
        uriEscapePath: service !== "s3",
      });
      const expected = await signer.sign(
        {
          method: "POST",
          protocol: "https:",
          hostname: host,
          path,
          query: Object.fromEntries(new URLSearchParams(query)),
          headers,
          body,
        },
        { signingDate: at },
      );
      const signed = signedHeaders(
        { method: "POST", path, query, headers, body },
        { credentials, region, service },
        at,
      );
      expect(signed).toEqual(expected.headers);
    }),
    { numRuns: isNightly ? 1_000 : 200 },
  );
});
