import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import type { StripeEvent } from "./object-store.ts";

export interface WebhookOptions {
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** How long it waits before each attempt. */
  readonly delaysMs?: readonly number[];
}

/** Sends events, signed as Stripe signs them, until the receiver responds with a 2xx status. */
export class Webhooks {
  readonly #options: WebhookOptions;
  readonly #stop = new AbortController();

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  async send(event: StripeEvent): Promise<void> {
    const {
      webhookUrl,
      webhookSecret,
      now,
      log,
      delaysMs = [0, 1_000, 5_000, 30_000, 120_000],
    } = this.#options;
    const body = JSON.stringify(event);
    let outcome = "";
    for (const delayMs of delaysMs) {
      try {
        await delay(delayMs, undefined, { ref: false, signal: this.#stop.signal });
        const time = Math.floor(now() / 1_000);
        const signature = createHmac("sha256", webhookSecret).update(`${time}.${body}`).digest("hex");
        const response = await fetch(webhookUrl, {
          method: "POST",
          headers: { "content-type": "application/json", "stripe-signature": `t=${time},v1=${signature}` },
          body,
          redirect: "manual",
          signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(10_000)]),
        });
        await response.body?.cancel();
        if (response.ok) return;
        outcome = `status ${response.status}`;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        outcome = String(error);
      }
    }
    log(`The payment provider dropped its event ${event.type} (${event.id}): ${outcome}`);
  }

  stop(): void {
    this.#stop.abort();
  }
}
