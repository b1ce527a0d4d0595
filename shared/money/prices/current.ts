import { ApiError } from "../../api/contract/errors.ts";
import { minuteMs, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import { RateCard } from "./rate-card.ts";
import { findCurrentVersion, readRateCard } from "./record.ts";
import { sampleCard } from "./sample-card.ts";

interface Current {
  /** Undefined where no prices have been imported. */
  readonly version: number | undefined;
  readonly card: RateCard;
}

/** A change of prices or of blocked destinations takes effect within a minute: both are cached for half of that. */
export const caching = {
  ttlMs: 30 * secondMs,
  staleIfError: { maxAgeMs: 15 * minuteMs, retryMs: 5 * secondMs },
} as const;

export const rateCardCache = new TtlCache<Current>(caching);

/**
 * Returns the rate card as it was within the last half minute, or within the last 15 minutes if it cannot be read. The prices
 * are read only when the current version changed.
 * @throws ApiError UNAVAILABLE when it cannot be read and none is cached
 */
export async function currentRateCard(): Promise<RateCard> {
  const { card } = await readCached(rateCardCache, readCurrent);
  return card;
}

/**
 * Reads a cache, and reports each failed load to the alarm about prices, also where the last value replaces it.
 * @throws ApiError UNAVAILABLE when nothing can be read and nothing is cached
 */
export async function readCached<Value>(
  cache: TtlCache<Value>,
  load: (last: Value | undefined) => Promise<Value>,
): Promise<Value> {
  try {
    return await cache.read(async (last) => load(last).catch(reportFailure));
  } catch (error) {
    throw new ApiError("UNAVAILABLE", { cause: error });
  }
}

function reportFailure(error: unknown): never {
  log.warn("prices.not_read", { error });
  countMetrics({ FailedPriceReads: 1 });
  throw error;
}

async function readCurrent(last: Current | undefined): Promise<Current> {
  const version = await findCurrentVersion();
  if (last !== undefined && last.version === version) return last;
  return { version, card: await cardOf(version) };
}

/** Returns the sample, or an empty card, for a stage without an imported card. */
async function cardOf(version: number | undefined): Promise<RateCard> {
  if (version !== undefined) return readRateCard(version);
  return config.hasSamplePrices() ? sampleCard : new RateCard("");
}
