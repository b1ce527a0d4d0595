import { AsyncLocalStorage } from "node:async_hooks";

import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { codeOf } from "../../shared/messages/message/verification-code.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { verificationFee } from "../../shared/money/prices/rate-card.ts";
import { newWallet, paidMessages, readWallet } from "../../shared/money/wallet/record.ts";
import { topUpWallet } from "../../shared/money/wallet/top-up.ts";
import { Secret } from "../../shared/platform/auth/secret.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { checkVerification } from "../../shared/verifications/check.ts";
import { cancelVerification, completeEnding, reportOutcome } from "../../shared/verifications/end.ts";
import { EndingJob } from "../../shared/verifications/ending-job.ts";
import { VerificationRecord } from "../../shared/verifications/record.ts";
import { resendVerification, startVerification } from "../../shared/verifications/start.ts";
import { randomFrom } from "../chaos/random.ts";
import { accept, only, ScriptedCarrier } from "../support/carriers.ts";
import { ChosenOrder, never } from "./chosen-order.ts";
import { attempt, jobsOf, mayBeOld, withRetries } from "./faulty-requests.ts";
import { MemoryTable } from "./memory-table.ts";
import { connect, repeats } from "./money-path.ts";
import { recordsOf, itemsOf } from "./records.ts";
import { replace } from "./replace.ts";
import { takeOver } from "./runtime.ts";
import { mutate, type VerificationMutation } from "./verification-mutations.ts";

/*
 * Races of starts, checks, resends and ends of the verifications of one number. A list of choices decides their order and the
 * faults of all requests. In the end, the state and the money have to be right.
 */

export type VerificationStep =
  | "cancel"
  | "check"
  | "complete"
  | "guess"
  | "later"
  | "minute"
  | "own code"
  | "report"
  | "resend"
  | "start";

const organizationId = "org_01KE0000000000000000000001";
const to = "15005550007";
const initialMicros = 1_000_000;
/** A function that takes longer is ended. */
const longestCallMs = minuteMs;
const priceMicros = 7_900;
const feeMicros = 50_000;

export interface VerificationPlan {
  readonly steps: readonly VerificationStep[];
  readonly choices: readonly number[];
  readonly seed: number;
  readonly mutation?: VerificationMutation | undefined;
}

export async function raceVerifications(plan: VerificationPlan): Promise<void> {
  const random = randomFrom(plan.seed);
  const world = new World(plan);
  const restores = [
    takeOver({ nowMs: () => world.timeMs, random, sleep: async (delayMs) => world.order.sleep(delayMs) }),
    connect({
      request: async (client, command) => world.request(client, command),
      enqueue: async (command) => world.enqueue(command),
    }),
    replace(Secret.prototype, "value", async () => "a key of the stage that no one can guess"),
  ];
  try {
    await world.run();
  } finally {
    for (const restore of restores.toReversed()) restore();
  }
}

class World {
  timeMs = Date.parse("2030-06-01T12:00:00Z");
  readonly order: ChosenOrder;
  readonly #plan: VerificationPlan;
  readonly #table = new MemoryTable();
  readonly #jobs: unknown[] = [];
  #hadTwo = false;
  readonly #approved: string[] = [];
  readonly #guesses = new Map<string, number>();
  readonly #calls = new AsyncLocalStorage<{ readonly startedMs: number }>();
  readonly #organization = OrganizationRecord.parse({
    entity: "organization",
    id: organizationId,
    name: "ACME",
    createdAt: "2030-01-01T00:00:00.000Z",
  });
  readonly #actor = {
    organizationId,
    userId: "usr_1",
    scopes: ["send"],
    credential: { type: "apiKey", keyId: "key_1" },
  } as const;

  constructor(plan: VerificationPlan) {
    this.#plan = plan;
    this.order = new ChosenOrder(plan.choices);
  }

  async run(): Promise<void> {
    this.order.isFaulty = false;
    await this.order.finish(this.#open());
    if (this.order.choose(4) > 0) await this.order.finish(this.#do("start"));
    this.order.isFaulty = true;
    await this.order.run(this.#plan.steps, (step) => {
      // The caller gets an error, or the job is delivered again.
      this.#calls.run({ startedMs: this.timeMs }, () => void this.#do(step).catch(() => undefined));
    });
    this.order.isFaulty = false;
    await this.#end();
    this.order.arriveLate();
    await this.#end();
    const problems: string[] = [...this.#problems(), ...(await this.#problemsOfMoney())];
    if (problems.length > 0) throw new Error(problems.join("; "));
  }

  async #open(): Promise<void> {
    await transact({ wallet: newWallet(organizationId, new Date()) });
    await topUpWallet(organizationId, { amount: initialMicros / 1e6 });
    await putItem(putOf(keys.organization(organizationId), this.#organization));
    const costMicros = { [verificationFee]: feeMicros };
    await publishRateCard([{ prefix: "1", priceMicros, costMicros }], undefined);
    for (let shard = 0; shard < 4; shard += 1) await releaseScheduledJobs(shard);
  }

  async #do(step: VerificationStep): Promise<void> {
    const actor = this.#actor;
    const viewer = { organizationId, isTest: false, hidesCodes: true };
    switch (step) {
      case "start":
      case "own code": {
        const own = this.order.choose(2) === 0 ? "K7WX" : "912345";
        const code = step === "own code" ? own : undefined;
        const request = { to, profile: "default", channel: "sms", senderId: "ACME", code } as const;
        await startVerification(this.#organization, request, { actor });
        return;
      }
      case "check":
      case "guess": {
        const { id, code: source } = this.#some();
        const code = step === "check" && source !== undefined ? await codeOf(id, source) : "wrong";
        const request = { id, profile: "default", code };
        const { status } = await checkVerification(this.#organization, viewer, request);
        this.#guesses.set(id, (this.#guesses.get(id) ?? 0) + 1);
        if (status === "approved") this.#approved.push(id);
        return;
      }
      case "resend":
        await resendVerification(this.#organization, this.#some().id, { actor });
        return;
      case "report":
        await reportOutcome(this.#organization, viewer, this.#some().id, { outcome: "approved" });
        return;
      case "cancel":
        await cancelVerification(this.#organization, viewer, this.#some().id);
        return;
      case "complete":
        await this.#complete(this.#some());
        return;
      case "minute":
        this.timeMs += 40 * secondMs;
        return;
      case "later":
        this.timeMs += 6 * minuteMs;
    }
  }

  async #complete({
    id,
    validUntil = "",
  }: Pick<VerificationRecord, "id"> & Partial<VerificationRecord>): Promise<void> {
    await completeEnding({ organizationId, verificationId: id, validUntil });
  }

  /** One of the verifications so far. */
  #some(): Pick<VerificationRecord, "id"> & Partial<VerificationRecord> {
    const all = this.#verifications();
    return all[this.order.choose(all.length)] ?? { id: "none" };
  }

  #verifications(): VerificationRecord[] {
    return recordsOf(this.#table, VerificationRecord, "verification");
  }

  /** Lets the reconciler, the scheduler and the workers do their work without faults. */
  async #end(): Promise<void> {
    for (let round = 0; round < 4; round += 1) {
      this.timeMs += 25 * minuteMs;
      await this.order.finish(reconcileWallet(organizationId));
      for (const shard of new Set(itemsOf(this.#table, "dueJob").map(({ pk }) => Number(String(pk).at(-1)))))
        await this.order.finish(releaseScheduledJobs(shard));
      for (const job of this.#jobs.splice(0)) await this.order.finish(this.#work(job));
    }
  }

  async #work(job: unknown): Promise<void> {
    const ending = EndingJob.safeParse(job);
    if (ending.success) return completeEnding(ending.data);
    const ofMessage = MessageJob.parse(job);
    await submitMessage(ofMessage, only(new ScriptedCarrier(accept)));
    await refundMessage(ofMessage);
  }

  /** Notes whether two verifications of the number are pending at the same time. */
  #noteActive(): void {
    const now = new Date(this.timeMs).toISOString();
    const active = this.#verifications().filter(
      ({ status, validUntil }) => status === "pending" && validUntil > now,
    );
    // Codes of the caller's own have verifications of their own.
    const ofOwnCodes = active.filter(({ code }) => code.sealed !== undefined).length;
    if (ofOwnCodes > 1 || active.length - ofOwnCodes > 1) this.#hadTwo = true;
  }

  #problems(): string[] {
    const now = new Date(this.timeMs).toISOString();
    const all = this.#verifications();
    return [
      ...(this.#hadTwo ? ["two verifications were pending"] : []),
      ...all.filter(({ checks }) => checks > 5).map(({ id }) => `${id} was checked too often`),
      ...[...this.#guesses].filter(([, count]) => count > 5).map(([id]) => `${id} had too many guesses`),
      ...all.filter(({ sends }) => sends > 5).map(({ id }) => `${id} was sent too often`),
      ...all.filter(({ status }) => status === "pending").map(({ id }) => `${id} did not end by ${now}`),
      ...this.#approved
        .filter((id, index) => this.#approved.indexOf(id) < index)
        .map((id) => `${id} approved twice`),
      ...this.#approved
        .filter((id) => all.find((each) => each.id === id)?.status !== "approved")
        .map((id) => `${id} was approved and is not`),
    ];
  }

  /** The money is that of the sent messages, and the fees of approved verifications. */
  async #problemsOfMoney(): Promise<string[]> {
    const all = this.#verifications();
    const messages = recordsOf(this.#table, MessageRecord, "message").filter(
      ({ status }) => status === "sent",
    );
    const fees = all.filter(({ status }) => status === "approved").length * feeMicros;
    const paid = messages.reduce((sum, { totalMicros }) => sum + totalMicros, fees);
    let found: string[] = [];
    await this.order.finish(
      (async () => {
        const wallet = await readWallet(organizationId);
        const { balanceMicros } = wallet;
        const { findings } = await verifyWallet(organizationId);
        const left = initialMicros - paid;
        found = balanceMicros === left ? [...findings] : [`${balanceMicros} is not ${left}`, ...findings];
        // The table deletes a message whose debit was lost.
        const stored = recordsOf(this.#table, MessageRecord, "message").filter(
          ({ expiresAt }) => expiresAt === undefined,
        ).length;
        if (paidMessages(wallet) !== stored)
          found.push(`${paidMessages(wallet)} of ${stored} messages count`);
      })(),
    );
    const known = new Set(all.flatMap(({ messageIds }) => messageIds));
    const unknown = messages
      .filter(({ id }) => !known.has(id))
      .map(({ id }) => `${id} is of no verification`);
    return [...found, ...unknown];
  }

  async request(client: object, command: object): Promise<unknown> {
    return withRetries(
      async () => this.#attempt(command),
      (failed) => this.#calls.getStore() !== undefined && repeats(client, failed),
    );
  }

  async #attempt(command: object): Promise<unknown> {
    await this.order.turn();
    const { startedMs = this.timeMs } = this.#calls.getStore() ?? {};
    if (this.timeMs - startedMs > longestCallMs) return never();
    mutate(this.#plan.mutation, command);
    const result = await attempt(this.order.pickFault(), {
      carryOut: () => {
        const isOld = this.order.isFaulty && mayBeOld(command) && this.order.choose(4) === 1;
        const response = this.#table.carryOut(command, isOld);
        this.#noteActive();
        return response;
      },
      die: never,
      later: (arrive) => this.order.later(arrive),
    });
    await this.order.turn();
    return result;
  }

  async enqueue(command: object): Promise<unknown> {
    await this.order.turn();
    const fault = this.order.pickFault();
    if (fault === "dies before" || fault === "dies after") return never();
    if (fault !== undefined) throw new Error("the queue is down");
    for (const { body, url } of jobsOf(command)) {
      if (!url.endsWith("webhookDeliveries")) this.#jobs.push(JSON.parse(body));
    }
    return {};
  }
}
