import { gunzipSync, gzipSync } from "node:zlib";

import * as z from "zod/mini";

import { keys } from "../../platform/table/keys.ts";
import { findItem, queryItems } from "../../platform/table/read.ts";
import { insertOf, type Put, type Update, updateOf, putOf } from "../../platform/table/write.ts";
import { carriersWithCosts, documentOf, RateCard, type PriceRow } from "./rate-card.ts";

/*
 * A rate card never changes: each import is a new version, compressed and split into chunks. One item names the current version,
 * so that one write changes all prices at the same time.
 */

/** The current version of the rate card. Without the item there is none. */
export const CurrentCardRecord = z.object({
  entity: z.literal("currentRateCard"),
  version: z.int().check(z.positive()),
});

/** A version of the rate card. */
export const RateCardRecord = z.object({
  entity: z.literal("rateCard"),
  version: z.int().check(z.positive()),
  importedAt: z.string(),
  /** The id of the import, which distinguishes imports with the same number. */
  importId: z.string(),
  rows: z.int().check(z.nonnegative()),
  carriers: z.array(z.string()),
  chunks: z.int().check(z.positive()),
  /** When all of its chunks were stored. Absent if the import was not completed. */
  completedAt: z.optional(z.string()),
});
export type RateCardRecord = z.infer<typeof RateCardRecord>;

export const ChunkRecord = z.object({
  entity: z.literal("rateCardChunk"),
  content: z.instanceof(Uint8Array),
});

/** DynamoDB accepts items of up to 400 KB. */
const chunkBytes = 350 * 1_024;

/** Ten times the size of a hundred thousand rows. */
const maxChunks = 32;
const maxDocumentBytes = 128 * 1_024 * 1_024;

/** Returns the current version; undefined if no prices have been imported. */
export async function findCurrentVersion(): Promise<number | undefined> {
  const current = await findItem(CurrentCardRecord, keys.currentRateCard(), { consistent: true });
  return current?.version;
}

/**
 * Reads the prices of a version.
 * @throws Error when it is not complete
 */
export async function readRateCard(version: number): Promise<RateCard> {
  const { pk } = keys.rateCardChunk(version, 0);
  const chunks = await queryItems(ChunkRecord, { pk, limit: maxChunks, consistent: true });
  const compressed = Buffer.concat(chunks.map(({ content }) => content));
  // The gzip format has the length and a checksum of its content. A mismatch throws.
  return new RateCard(gunzipSync(compressed, { maxOutputLength: maxDocumentBytes }).toString());
}

/** Reads a version of the rate card, without its prices. */
export async function findRateCard(version: number): Promise<RateCardRecord | undefined> {
  return findItem(RateCardRecord, keys.rateCard(version), { consistent: true });
}

/** Reads the newest versions, newest first, including those of incomplete imports. */
export async function listRateCards(limit: number): Promise<RateCardRecord[]> {
  const { pk, sk } = keys.rateCard(1);
  return queryItems(RateCardRecord, { pk, from: sk, newestFirst: true, limit, consistent: true });
}

/** A version to store. */
interface NewCard extends Pick<RateCardRecord, "importId" | "version"> {
  readonly rows: readonly PriceRow[];
  readonly importedAt: Date;
}

/**
 * Returns the writes that store rows as a version. The first reserves its number, and must be applied before the others.
 * @throws Error when there are too many rows to store
 */
export function rateCardPuts({ version, importId, rows, importedAt }: NewCard): [Put, ...Put[]] {
  const document = documentOf(rows);
  const compressed = gzipSync(document);
  const chunks = Math.ceil(compressed.byteLength / chunkBytes);
  if (chunks > maxChunks || document.length > maxDocumentBytes) {
    throw new Error("There are too many prices to store.");
  }
  const card: RateCardRecord = {
    entity: "rateCard",
    version,
    importedAt: importedAt.toISOString(),
    importId,
    rows: rows.length,
    carriers: carriersWithCosts(rows),
    chunks,
  };
  return [
    insertOf(keys.rateCard(version), card),
    ...Array.from({ length: chunks }, (_, index) =>
      putOf(keys.rateCardChunk(version, index), {
        entity: "rateCardChunk",
        content: new Uint8Array(compressed.subarray(index * chunkBytes, (index + 1) * chunkBytes)),
      }),
    ),
  ];
}

/** Returns the write that marks a version as complete. */
export function completeCard(version: number, at: Date): Update<"rateCard"> {
  const set = { completedAt: at.toISOString() };
  return updateOf(keys.rateCard(version), { set }, { present: ["pk"] });
}

/** Returns the write that makes a version the current one, if `seen` still is. */
export function makeCurrent(version: number, seen: number | undefined): Update<"currentRateCard"> {
  const set = { entity: "currentRateCard", version } as const;
  return updateOf(
    keys.currentRateCard(),
    { set },
    seen === undefined ? { absent: ["pk"] } : { is: { version: seen } },
  );
}
