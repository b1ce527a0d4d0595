import { now } from "./clock.ts";

/**
 * Asks for something once in so long, however many ask: what is known is kept, so that a function has one for all its
 * calls. Those who ask side by side wait for the same answer; one that failed is not kept.
 */
export function keptFor<Value>(keptMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly untilMs: number } | undefined;
  return async () => {
    const atMs = now().getTime();
    if (known !== undefined && atMs < known.untilMs) return known.value;
    const reading = { value: read(), untilMs: atMs + keptMs };
    known = reading;
    try {
      return await reading.value;
    } catch (error) {
      if (known === reading) known = undefined;
      throw error;
    }
  };
}
