import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3ServiceException } from "@aws-sdk/client-s3";

import { S3 } from "./s3.ts";

/*
 * Objects that are written once. Import this file dynamically, when an object is needed: a bundle keeps it as a separate file.
 */

const client = new S3({ timeLimits: { requestMs: 5_000 } });

export interface ObjectPlace {
  readonly Bucket: string;
  readonly Key: string;
}

/** Writes an object, unless it exists. */
export async function writeOnce(place: ObjectPlace, Body: Uint8Array, ContentType: string): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...place, Body, ContentType, IfNoneMatch: "*" }));
  } catch (error) {
    if (!(error instanceof S3ServiceException && error.name === "PreconditionFailed")) throw error;
  }
}

/** @returns undefined if there is no such object */
export async function readObject(place: ObjectPlace): Promise<Uint8Array | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ ...place }));
    return await Body?.transformToByteArray();
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}
