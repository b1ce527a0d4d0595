import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promisedTimers from "node:timers/promises";

import type { Random } from "../chaos/random.ts";
import { replace } from "./replace.ts";

/** Replacements for everything outside the code of a model run, except AWS: see `connect`. */
export interface Runtime {
  /** The clock of the current function, in milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** Numbers from 0 to below 1. All random values in the code follow from them, such as ids, tokens and jitter. */
  readonly random: Random;
  readonly sleep: (delayMs: number) => Promise<void>;
  /** Calls `happen` after a delay. @returns a function that cancels it. Without it, timers with a callback are not replaced. */
  readonly after?: (delayMs: number, happen: () => void) => () => void;
  /** Receives the lines of the log. */
  readonly log?: (line: string) => void;
}

/** Replaces the runtime of Node with that of a model. @returns what restores it */
export function takeOver({ nowMs, random, sleep, after, log }: Runtime): () => void {
  const bytes = <Bytes extends Uint8Array>(into: Bytes): Bytes => {
    for (let index = 0; index < into.length; index += 1) into[index] = Math.floor(random() * 256);
    return into;
  };
  const restores = [
    replace(
      globalThis,
      "Date",
      new Proxy(Date, {
        construct: (target, args) => Reflect.construct(target, args.length === 0 ? [nowMs()] : args),
        get: (target, property) => (property === "now" ? nowMs : Reflect.get(target, property)),
      }),
    ),
    replace(Math, "random", random),
    replace(crypto, "randomUUID", () => uuidOf(bytes(Buffer.alloc(16)))),
    replace(crypto, "randomBytes", (count: number) => bytes(Buffer.alloc(count))),
    // The random part of ULIDs comes from here.
    replace(crypto, "randomInt", (below: number) => Math.floor(random() * below)),
    replace(
      promisedTimers,
      "setTimeout",
      async (delayMs: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
        Promise.race([sleep(delayMs).then(() => value), ...(signal === undefined ? [] : [abortOf(signal)])]),
    ),
    replace(process.stdout, "write", (line: unknown) => {
      log?.(String(line));
      return true;
    }),
    ...(after === undefined
      ? []
      : [
          replace(timers, "setTimeout", (happen: () => void, delayMs: number) => after(delayMs, happen)),
          replace(timers, "clearTimeout", (callOff: () => void) => callOff()),
        ]),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

/** A UUID of version 4, as `randomUUID` makes it. */
function uuidOf(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const [hex] = [bytes.toString("hex")];
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map((range) => hex.slice(...range))
    .join("-");
}

async function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });
}
