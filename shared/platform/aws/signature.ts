import { createHmac, hash } from "node:crypto";

import { BoundedMap } from "../bounded-map.ts";
import type { Credentials } from "./credentials.ts";

/** A request as it is signed. */
export interface UnsignedRequest {
  readonly method: string;
  readonly path: string;
  /** Encoded and in order; empty for none. */
  readonly query: string;
  /** Names in lower case, with `host` among them; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

export interface SigningScope {
  readonly credentials: Credentials;
  readonly region: string;
  /** The name that the service signs under, such as `dynamodb`. */
  readonly service: string;
}

const algorithm = "AWS4-HMAC-SHA256";

/** The keys of the services in use, each valid for one day and one secret. */
const keys = new BoundedMap<Buffer>(20);

/**
 * Returns the headers of a request, including those of its signature (version 4).
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 */
export function signedHeaders(
  { method, path, query, headers: given, body }: UnsignedRequest,
  { credentials, region, service }: SigningScope,
  at: Date,
): Record<string, string> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = at.toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { ...given, "x-amz-date": time };
  if (sessionToken !== undefined) headers["x-amz-security-token"] = sessionToken;
  const digest = hash("sha256", body);
  const isS3 = service === "s3";
  if (isS3) headers["x-amz-content-sha256"] = digest;
  const names = Object.keys(headers).toSorted();
  const lines = names.map((name) => `${name}:${headers[name]?.trim().replaceAll(/\s+/g, " ")}\n`);
  const signed = names.join(";");
  // The segments of a path are encoded a second time, for every service but S3.
  const signedPath = isS3 ? path : encodedPath(path);
  const canonical = [method, signedPath, query, lines.join(""), signed, digest].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const signature = createHmac("sha256", keyOf(secretAccessKey, day, region, service))
    .update(`${algorithm}\n${time}\n${scope}\n${hash("sha256", canonical)}`)
    .digest("hex");
  headers["authorization"] =
    `${algorithm} Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
  return headers;
}

function keyOf(secret: string, day: string, region: string, service: string): Buffer {
  const id = `${day} ${region} ${service} ${secret}`;
  const known = keys.get(id);
  if (known !== undefined) return known;
  const key = [day, region, service, "aws4_request"].reduce<Buffer | string>(
    (each, part) => createHmac("sha256", each).update(part).digest(),
    `AWS4${secret}`,
  );
  const made = Buffer.from(key);
  keys.set(id, made);
  return made;
}

/** Returns a path with encoded segments. */
export function encodedPath(path: string): string {
  return path.split("/").map(encoded).join("/");
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
