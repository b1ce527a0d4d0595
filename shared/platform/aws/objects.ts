import { isAwsError } from "./errors.ts";
import { GetObjectCommand, PutObjectCommand, S3, type ObjectPlace } from "./s3.ts";

/*
 * Objects that are written once. Import this file dynamically, when an object is needed: a bundle keeps it as a separate file.
 */

const client = new S3({ timeLimits: { requestMs: 5_000 } });

/** Writes an object, unless it exists. */
export async function writeOnce(place: ObjectPlace, Body: Uint8Array, ContentType: string): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...place, Body, ContentType, IfNoneMatch: "*" }));
  } catch (error) {
    if (!isAwsError(error, "PreconditionFailed")) throw error;
  }
}

/** @returns undefined if there is no such object */
export async function readObject(place: ObjectPlace): Promise<Uint8Array | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ ...place }));
    return Body;
  } catch (error) {
    if (isAwsError(error, "NoSuchKey")) return undefined;
    throw error;
  }
}
