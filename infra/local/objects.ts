import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

import { errorResponse, type AwsResponse } from "./aws-requests.ts";
import { ifMissing } from "./data-folder.ts";

// No key leads out of the folder.
const Key = z.string().check(z.regex(/^\w+\/\w[\w.-]*$/));
const Put = z.object({ Key, Body: z.base64(), IfNoneMatch: z.literal("*") });
const Get = z.object({ Key });

/** The headers and the path of a request to S3. */
interface ObjectRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
}

/** Returns the operation of a request to S3, and its input as JSON, as the other services have them in their requests. */
export function readObjectRequest({ headers, url }: ObjectRequest, content: Buffer): [string, string] {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const [, Bucket, ...key] = pathname.split("/").map(decodeURIComponent);
  const IfNoneMatch = headers["if-none-match"];
  const input = { Bucket, Key: key.join("/"), Body: content.toString("base64"), IfNoneMatch };
  return [`s3:${searchParams.get("x-id")}`, JSON.stringify(input)];
}

/** The part of S3 that functions use: one bucket of objects that are written once, each a file. */
export class LocalObjects {
  readonly #folder: string | undefined;
  /** The objects, where there is no folder. */
  readonly #objects = new Map<string, Buffer>();

  /** @param folder where objects stay between runs; without it they end with the process */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** @param operation for example `GetObject` */
  async execute(operation: string, input: unknown): Promise<AwsResponse> {
    if (operation === "PutObject") {
      const { Key: key, Body } = Put.parse(input);
      const isNew = await this.#add(key, Buffer.from(Body, "base64"));
      if (!isNew) return errorResponse("PreconditionFailed", "the object exists", 412);
      return { status: 200, headers: {}, body: "" };
    }
    const bytes = await this.#read(Get.parse(input).Key);
    if (bytes === undefined) return errorResponse("NoSuchKey", "the object does not exist", 404);
    return { status: 200, headers: {}, body: "", bytes };
  }

  /** @returns whether there was none with the key */
  async #add(key: string, content: Buffer): Promise<boolean> {
    if (this.#folder === undefined) {
      const isNew = !this.#objects.has(key);
      if (isNew) this.#objects.set(key, content);
      return isNew;
    }
    const file = path.join(this.#folder, key);
    const whole = `${file}.${randomUUID()}`;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(whole, content, { mode: 0o600 });
    try {
      // Unlike a write, it cannot stop in the middle.
      await link(whole, file);
      return true;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
      throw error;
    } finally {
      await rm(whole);
    }
  }

  async #read(key: string): Promise<Buffer | undefined> {
    if (this.#folder === undefined) return this.#objects.get(key);
    return readFile(path.join(this.#folder, key)).catch(ifMissing(undefined));
  }
}
