import { minuteMs } from "../../shared/platform/clock.ts";
import { organizationId, priceMicros } from "./books-setting.ts";
import type { MoneyPath } from "./simulation.ts";

export type Step =
  | { readonly kind: "advance"; readonly minutes: number }
  /** A number of messages that are paid and recorded together, as those of a campaign. */
  | { readonly kind: "block"; readonly messages: number }
  /** Cancels one of the scheduled messages. */
  | { readonly kind: "cancel" }
  /** Launches the campaign, pauses, resumes or cancels it, or lets a worker continue it. */
  | { readonly kind: "cancelCampaign" }
  | { readonly kind: "launchCampaign" }
  | { readonly kind: "pauseCampaign" }
  | { readonly kind: "resumeCampaign" }
  | { readonly kind: "runCampaign" }
  /** The operator caps the spending of a day at the price of a number of one-segment messages, or removes the cap. */
  | { readonly kind: "capSpending"; readonly messages: number | "none" }
  /** The operator imports a price for a segment to any number. */
  | { readonly kind: "changePrice"; readonly priceMicros: number }
  /** A person approves or rejects one of the held messages. */
  | { readonly kind: "decide"; readonly isApproved: boolean }
  | { readonly kind: "deliver" }
  /** A new instance replaces the one that sends: it does not know the earlier debits. */
  | { readonly kind: "forget" }
  | { readonly kind: "reconcile" }
  /** A message that is due in ten minutes. */
  | { readonly kind: "schedule" }
  /** A message with a number of segments. */
  | { readonly kind: "send"; readonly segments: number; readonly key?: "a" | "b" }
  /** A message of an API key: within a daily budget, held for approval, or a test. */
  | { readonly kind: "sendWithKey"; readonly key: "budget" | "held" | "test" }
  | { readonly kind: "topUp"; readonly key?: "c" | "d" };

/** The steps of customers, operators and workers, and the promises that the customer got. */
export class Actions {
  /** Ids of the messages in successful responses. */
  readonly acceptedMessages = new Set<string>();
  /** All prices of a segment so far. */
  readonly prices = new Set([priceMicros]);
  toppedUp = 0;
  campaignId = "";
  readonly #choose: (below: number) => number;
  readonly #scheduled: string[] = [];
  readonly #held: string[] = [];

  /** @param choose returns a number below another one */
  constructor(choose: (below: number) => number) {
    this.#choose = choose;
  }

  async do(step: Exclude<Step, { readonly kind: "advance" | "deliver" }>, release: MoneyPath): Promise<void> {
    switch (step.kind) {
      case "reconcile":
        await release.reconcile(organizationId);
        return;
      case "topUp":
        await release.topUp(organizationId, step.key);
        if (step.key === undefined) this.toppedUp += 1;
        return;
      case "send":
        this.acceptedMessages.add(await release.sendMessage(organizationId, step));
        return;
      case "schedule": {
        const scheduledAt = new Date(Date.now() + 10 * minuteMs).toISOString();
        const id = await release.sendMessage(organizationId, { segments: 1, scheduledAt });
        this.acceptedMessages.add(id);
        this.#scheduled.push(id);
        return;
      }
      case "cancel": {
        const id = this.#scheduled[this.#choose(this.#scheduled.length)];
        if (id !== undefined) await release.cancelMessage(organizationId, id);
        return;
      }
      case "capSpending": {
        const { messages } = step;
        await release.capSpending(organizationId, messages === "none" ? messages : messages * priceMicros);
        return;
      }
      case "changePrice":
        this.prices.add(step.priceMicros);
        await release.changePrice(step.priceMicros);
        return;
      case "launchCampaign":
        await release.launchCampaign(organizationId, this.campaignId);
        return;
      case "cancelCampaign":
        await release.cancelCampaign(organizationId, this.campaignId);
        return;
      case "pauseCampaign":
        await release.pauseCampaign(organizationId, this.campaignId);
        return;
      case "resumeCampaign":
        await release.resumeCampaign(organizationId, this.campaignId);
        return;
      case "runCampaign":
        await release.continueCampaign(organizationId, this.campaignId);
        return;
      case "sendWithKey": {
        const id = await release.sendWithKey(organizationId, step.key);
        if (step.key === "held") this.#held.push(id);
        if (step.key === "budget") this.acceptedMessages.add(id);
        return;
      }
      case "decide": {
        const id = this.#held[this.#choose(this.#held.length)];
        if (id !== undefined) await release.decideHeld(organizationId, id, step.isApproved);
        return;
      }
      case "forget":
        release.forgetDebits();
        return;
      case "block":
        for (const id of await release.sendBlock(organizationId, step.messages))
          this.acceptedMessages.add(id);
    }
  }
}
