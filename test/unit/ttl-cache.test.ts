import { beforeEach, expect, it, vi } from "vitest";

import { TtlCache } from "../../shared/platform/ttl-cache.ts";

const start = Date.parse("2030-06-01T12:00:00Z");
let atMs: number;
let count: number;

beforeEach(() => {
  atMs = start;
  count = 0;
});

function clock(): Date {
  return new Date(atMs);
}

async function load(): Promise<string> {
  count += 1;
  return `load ${count}`;
}

async function fail(): Promise<string> {
  throw new Error("cannot be loaded");
}

it("keeps a value for its time, from the start of its load on", async () => {
  const cache = new TtlCache<string>({ ttlMs: 1_000, clock });
  const slow = async (): Promise<string> => {
    atMs += 400;
    return load();
  };

  expect(await cache.read(slow)).toBe("load 1");
  atMs = start + 999;
  expect(await cache.read(load)).toBe("load 1");
  atMs = start + 1_000;
  expect(await cache.read(load)).toBe("load 2");
});

it("keeps a value as long as the function runs where it has no time", async () => {
  const cache = new TtlCache<string | undefined>({ clock });
  const loadNothing = vi.fn<() => Promise<undefined>>(async () => undefined);

  expect(await cache.read(loadNothing)).toBeUndefined();
  atMs = Date.parse("2090-01-01T00:00:00Z");
  expect(await cache.read(load)).toBeUndefined();
});

it("lets concurrent callers share one load, and its failure", async () => {
  const cache = new TtlCache<string>({ ttlMs: 1_000, clock });
  const failures = await Promise.allSettled([cache.read(fail), cache.read(load), cache.read(load)]);

  expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await Promise.all([cache.read(load), cache.read(load), cache.read(load)])).toEqual(
    Array.from({ length: 3 }, () => "load 1"),
  );
});

it("does not cache a failure", async () => {
  const cache = new TtlCache<string>({ ttlMs: 1_000, clock });

  await expect(cache.read(fail)).rejects.toThrow("cannot be loaded");
  expect(await cache.read(load)).toBe("load 1");
  atMs += 1_000;
  await expect(cache.read(fail)).rejects.toThrow("cannot be loaded");
});

it("starts another load when one takes ten seconds, and keeps the newer value", async () => {
  const cache = new TtlCache<string>({ ttlMs: 60_000, clock });
  const old = Promise.withResolvers<string>();
  const hanging = cache.read(async () => old.promise);

  atMs += 9_999;
  const joined = cache.read(load);
  atMs += 1;
  expect(await cache.read(load)).toBe("load 1");
  old.resolve("old");
  expect(await Promise.all([hanging, joined])).toEqual(["old", "old"]);
  expect(await cache.read(load)).toBe("load 1");
});

it("passes the last value to the next load", async () => {
  const cache = new TtlCache<string>({ ttlMs: 1_000, clock });
  const extend = async (last?: string): Promise<string> => `${last ?? "none"}+`;

  expect(await cache.read(extend)).toBe("none+");
  atMs += 1_000;
  expect(await cache.read(extend)).toBe("none++");
});

it("replaces a failed load by the last value for a bounded time, and retries after a while", async () => {
  const staleIfError = { maxAgeMs: 5_000, retryMs: 100 };
  const cache = new TtlCache<string>({ ttlMs: 1_000, staleIfError, clock });
  const failing = vi.fn<() => Promise<string>>(fail);

  await expect(cache.read(failing)).rejects.toThrow("cannot be loaded");
  expect(await cache.read(load)).toBe("load 1");
  atMs = start + 1_000;
  expect(await Promise.all([cache.read(failing), cache.read(failing)])).toEqual(["load 1", "load 1"]);
  atMs += 99;
  expect(await cache.read(failing)).toBe("load 1");
  expect(failing).toHaveBeenCalledTimes(2);
  atMs += 1;
  expect(await cache.read(failing)).toBe("load 1");
  expect(failing).toHaveBeenCalledTimes(3);
  atMs = start + 5_001;
  await expect(cache.read(failing)).rejects.toThrow("cannot be loaded");
  expect(await cache.read(load)).toBe("load 2");
});

it("has a value for each key, and drops the one that was loaded first when there are too many", async () => {
  const cache = new TtlCache<string>({ maxKeys: 2, clock });

  for (const key of ["a", "b", "c"]) await cache.read(async () => key, key);
  expect(await cache.read(load, "c")).toBe("c");
  expect(await cache.read(load, "b")).toBe("b");
  expect(await cache.read(load, "a")).toBe("load 1");
});

it("has nothing after it was cleared", async () => {
  const cache = new TtlCache<string>({ clock });

  await cache.read(load);
  cache.clear();
  expect(await cache.read(load)).toBe("load 2");
});
