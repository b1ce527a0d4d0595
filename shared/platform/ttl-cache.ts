import { BoundedMap } from "./bounded-map.ts";
import { now } from "./clock.ts";

interface TtlCacheOptions {
  /** How long a loaded value is used; without it, as long as the function runs. */
  readonly ttlMs?: number;
  /** How old a value may be that replaces a failed load, and after how long the next load is tried. */
  readonly staleIfError?: { readonly maxAgeMs: number; readonly retryMs: number };
  /** When there are more keys, the value that was loaded first is dropped. */
  readonly maxKeys?: number;
  readonly clock?: () => Date;
}

interface Loaded<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
  readonly freshUntilMs: number;
}

interface Loading<Value> {
  readonly value: Promise<Value>;
  readonly sharedUntilMs: number;
}

/** How long callers join a load before one of them starts another. A connection that died may never fail. */
const sharedLoadMs = 10_000;

/** Caches values for a time. Concurrent callers share one load, and a failed load is not cached. */
export class TtlCache<Value> {
  readonly #loaded: BoundedMap<Loaded<Value>>;
  readonly #loading = new Map<string, Loading<Value>>();
  readonly #options: TtlCacheOptions;

  constructor(options: TtlCacheOptions = {}) {
    this.#options = options;
    this.#loaded = new BoundedMap(options.maxKeys ?? 1_000);
  }

  /**
   * Returns the value of a key, and loads it when it is missing or too old.
   * @param load receives the last value, if there was one
   * @throws whatever `load` throws, unless the last value may replace it
   */
  async read(load: (last: Value | undefined) => Promise<Value>, key = ""): Promise<Value> {
    const { clock = now } = this.#options;
    const atMs = clock().getTime();
    const last = this.#loaded.get(key);
    if (last !== undefined && atMs < last.freshUntilMs) return last.value;
    const running = this.#loading.get(key);
    if (running !== undefined && atMs < running.sharedUntilMs) return running.value;
    const own = { value: this.#load(load, key, atMs), sharedUntilMs: atMs + sharedLoadMs };
    this.#loading.set(key, own);
    try {
      return await own.value;
    } finally {
      if (this.#loading.get(key) === own) this.#loading.delete(key);
    }
  }

  clear(): void {
    this.#loaded.clear();
    this.#loading.clear();
  }

  async #load(
    load: (last: Value | undefined) => Promise<Value>,
    key: string,
    loadedAtMs: number,
  ): Promise<Value> {
    const { ttlMs = Infinity, staleIfError } = this.#options;
    const last = this.#loaded.get(key);
    try {
      const value = await load(last?.value);
      this.#keep(key, { value, loadedAtMs, freshUntilMs: loadedAtMs + ttlMs });
      return value;
    } catch (error) {
      if (last === undefined || staleIfError === undefined) throw error;
      if (loadedAtMs - last.loadedAtMs > staleIfError.maxAgeMs) throw error;
      this.#keep(key, { ...last, freshUntilMs: loadedAtMs + staleIfError.retryMs });
      return last.value;
    }
  }

  /** Keeps a value, unless a load that started later was faster. */
  #keep(key: string, loaded: Loaded<Value>): void {
    const present = this.#loaded.get(key);
    if (present !== undefined && present.loadedAtMs > loaded.loadedAtMs) return;
    this.#loaded.set(key, loaded);
  }
}
