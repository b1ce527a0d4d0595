import { ApiError } from "../contract/errors.ts";
import { minuteMs, now, secondMs } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { log } from "../platform/log.ts";
import { countMetrics } from "../platform/metrics.ts";
import { RateCard } from "./rate-card.ts";
import { findCurrentVersion, readRateCard } from "./record.ts";
import { sampleCard } from "./sample-card.ts";

/** How long a function goes by what it has read: half of the minute in which a change has to count. */
const keptMs = 30 * secondMs;

/** How long it goes by that when it can be read no more, and how often it then tries. */
const maxAgeMs = 15 * minuteMs;
const retryMs = 5 * secondMs;

/** How long calls that come side by side wait for one reading, before one of them begins another. */
const readingMs = 10 * secondMs;

/** What a function knows of the rate card. */
interface Known {
  /** A test has several tables, each with a card of its own. */
  readonly tableName: string;
  /** Undefined where no prices have been imported. */
  readonly version: number | undefined;
  readonly card: RateCard;
  readonly readAtMs: number;
  readonly lookAgainAtMs: number;
}

/** A reading that is under way. */
interface Reading extends Pick<Known, "tableName"> {
  readonly known: Promise<Known>;
  readonly startedAtMs: number;
}

let known: Known | undefined;
let reading: Reading | undefined;

/**
 * The rate card, as it was within the last half minute; where it cannot be read, within the last quarter of an hour. Which
 * version counts is read each time, and the prices only when that has changed.
 * @throws ApiError UNAVAILABLE when it cannot be read and none is at hand
 */
export async function currentRateCard(): Promise<RateCard> {
  const atMs = now().getTime();
  const usable = known?.tableName === config.tableName() ? known : undefined;
  if (usable !== undefined && atMs < usable.lookAgainAtMs) return usable.card;
  const own = joinedReading(usable, atMs);
  try {
    known = await own.known;
    return known.card;
  } catch (error) {
    log.warn("prices.not_read", { error });
    countMetrics({ FailedPriceReads: 1 });
    if (usable === undefined || atMs - usable.readAtMs > maxAgeMs) {
      throw new ApiError("UNAVAILABLE", { cause: error });
    }
    known = { ...usable, lookAgainAtMs: atMs + retryMs };
    return usable.card;
  }
}

/** The reading that is under way, or a new one. */
function joinedReading(before: Known | undefined, atMs: number): Reading {
  const tableName = config.tableName();
  const underWay = reading?.tableName === tableName ? reading : undefined;
  if (underWay !== undefined && atMs - underWay.startedAtMs < readingMs) return underWay;
  const begun: Reading = { tableName, startedAtMs: atMs, known: readKnown(before, atMs) };
  reading = begun;
  const forget = (): void => {
    if (reading === begun) reading = undefined;
  };
  begun.known.then(forget, forget);
  return begun;
}

async function readKnown(before: Known | undefined, atMs: number): Promise<Known> {
  const version = await findCurrentVersion();
  const isSame = before !== undefined && before.version === version;
  const card = isSame ? before.card : await cardOf(version);
  return {
    tableName: config.tableName(),
    version,
    card,
    readAtMs: atMs,
    lookAgainAtMs: atMs + keptMs,
  };
}

/** Without an imported card a stage sells by the sample, or nothing. */
async function cardOf(version: number | undefined): Promise<RateCard> {
  if (version !== undefined) return readRateCard(version);
  return config.hasSamplePrices() ? sampleCard : new RateCard("");
}
