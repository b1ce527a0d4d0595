import { gunzipSync, gzipSync } from "node:zlib";

import * as z from "zod/mini";

import { keys } from "../platform/table/keys.ts";
import { findItem, queryItems, type Put, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { carriersWithCosts, documentOf, RateCard, type PriceRow } from "./rate-card.ts";

/*
 * A rate card is never changed: each import is a version of its own, compressed and in as many chunks as it takes. One
 * item says which version counts, so that prices change with one write, and all of them at once.
 */

/** Which version of the rate card counts. Without the item there is none. */
export const CurrentCardRecord = z.object({
  entity: z.literal("currentRateCard"),
  version: z.int().check(z.positive()),
});

/** A version of the rate card. */
export const RateCardRecord = z.object({
  entity: z.literal("rateCard"),
  version: z.int().check(z.positive()),
  importedAt: z.string(),
  /** Whose import it is, of those that may have wanted the same number. */
  importId: z.string(),
  rows: z.int().check(z.nonnegative()),
  carriers: z.array(z.string()),
  chunks: z.int().check(z.positive()),
  /** Since when all of its chunks are there. Without it the import was not completed. */
  completedAt: z.optional(z.string()),
});
export type RateCardRecord = z.infer<typeof RateCardRecord>;

const ChunkRecord = z.object({ entity: z.literal("rateCardChunk"), content: z.instanceof(Uint8Array) });

/** DynamoDB takes 400 KB an item. */
const chunkBytes = 350 * 1_024;

/** Ten times what a hundred thousand rows come to. */
const maxChunks = 32;
const maxDocumentBytes = 128 * 1_024 * 1_024;

/** The version that counts, or undefined where no prices have been imported. */
export async function findCurrentVersion(): Promise<number | undefined> {
  const current = await findItem(CurrentCardRecord, keys.currentRateCard(), { consistent: true });
  return current?.version;
}

/**
 * The prices of a version.
 * @throws Error when not all of it is there
 */
export async function readRateCard(version: number): Promise<RateCard> {
  const { pk } = keys.rateCardChunk(version, 0);
  const chunks = await queryItems(ChunkRecord, { pk, limit: maxChunks, consistent: true });
  const compressed = Buffer.concat(chunks.map(({ content }) => content));
  // It knows its length and a sum of what was compressed, and throws where they are others.
  return new RateCard(gunzipSync(compressed, { maxOutputLength: maxDocumentBytes }).toString());
}

/** A version of the rate card, without what is in it. */
export async function findRateCard(version: number): Promise<RateCardRecord | undefined> {
  return findItem(RateCardRecord, keys.rateCard(version), { consistent: true });
}

/** The newest versions, newest first, those that were not brought to their end among them. */
export async function listRateCards(limit: number): Promise<RateCardRecord[]> {
  const { pk, sk } = keys.rateCard(1);
  return queryItems(RateCardRecord, { pk, from: sk, newestFirst: true, limit, consistent: true });
}

/** What is to be kept as a version. */
interface NewCard extends Pick<RateCardRecord, "importId" | "version"> {
  readonly rows: readonly PriceRow[];
  readonly importedAt: Date;
}

/**
 * The writes that keep rows as a version: the first takes its number, and must be applied before the others.
 * @throws Error when they are more than can be kept
 */
export function rateCardPuts({ version, importId, rows, importedAt }: NewCard): [Put, ...Put[]] {
  const document = documentOf(rows);
  const compressed = gzipSync(document);
  const chunks = Math.ceil(compressed.byteLength / chunkBytes);
  if (chunks > maxChunks || document.length > maxDocumentBytes) {
    throw new Error("These prices are more than can be kept.");
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
    { put: { ...keys.rateCard(version), ...card }, condition: "attribute_not_exists(pk)" },
    ...Array.from({ length: chunks }, (_, index) => ({
      put: {
        ...keys.rateCardChunk(version, index),
        entity: "rateCardChunk",
        content: new Uint8Array(compressed.subarray(index * chunkBytes, (index + 1) * chunkBytes)),
      },
    })),
  ];
}

/** The write that notes that all of a version is there. */
export function completeCard(version: number, at: Date): Update {
  const set = { completedAt: at.toISOString() };
  return updateOf(keys.rateCard(version), { set }, { present: ["pk"] });
}

/** The write that lets a version count in the place of the one that was seen to. */
export function makeCurrent(version: number, seen: number | undefined): Update {
  const set = { entity: "currentRateCard", version };
  return updateOf(
    keys.currentRateCard(),
    { set },
    seen === undefined ? { absent: ["pk"] } : { is: { version: seen } },
  );
}
