import { TransactWriteCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { oneOf, type Random } from "../chaos/random.ts";
import { withOwnClass } from "./command-classes.ts";
import { storeDocuments, type MemoryBucket } from "./documents.ts";
import {
  attempt,
  Fallible,
  jobsOf,
  mayBeOld,
  requestFaults,
  withRetries,
  type RequestFault,
} from "./faulty-requests.ts";
import type { Lambda } from "./lambda.ts";
import type { MemoryTable } from "./memory-table.ts";
import { mutateRequest, mutatedAnswer, type PaymentMutation } from "./payment-mutations.ts";
import { takeOver } from "./runtime.ts";
import type { MoneyPath } from "./simulation.ts";
import type { StripeConnection } from "./stripe-connection.ts";
import { describe, type Observe } from "./trace.ts";
import type { WriteChecks } from "./write-checks.ts";

const requestFaultOdds = 0.05;

const settings = {
  cards: "stripe",
  bankTransfer: "Pay to our account.",
  minimum: "1.00",
  maximum: "1000.00",
  seller: { name: "Example SMS Ltd", address: ["1 Sample Street"], country: "DE" },
  // A rate that makes parts of cents.
  tax: { rates: { DE: 19 } },
};

interface Parts {
  readonly random: Random;
  readonly lambda: Lambda;
  readonly table: MemoryTable;
  readonly bucket: MemoryBucket;
  readonly stripe: StripeConnection;
  readonly checks: WriteChecks;
  readonly mutation: PaymentMutation | undefined;
  readonly releases: readonly MoneyPath[];
  readonly observe: Observe | undefined;
  /** Receives the jobs of payments. */
  readonly enqueue: (body: string) => void;
}

/** AWS and the provider, as the functions of the model of payments see them: with lost requests and responses, and deaths. */
export class PaymentAws {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Replaces the provider, the table, the queues and the clocks with those of this world. @returns what restores them */
  takeOver(): () => void {
    const restores = [
      takeOver({
        nowMs: () => this.#parts.lambda.nowMs(),
        random: this.#parts.random,
        sleep: async (delayMs) => this.#parts.lambda.wait(delayMs),
        after: (delayMs, happen) => this.#parts.lambda.time.after(delayMs, happen),
        log: (line) => this.#noteLog(line),
      }),
      ...this.#parts.releases.map((release) =>
        release.connect({
          request: async (client, command) => this.#request(release, client, withOwnClass(command)),
          enqueue: async (command) => this.#enqueue(withOwnClass(command)),
          instanceName: () => this.#parts.lambda.instanceName,
        }),
      ),
      storeDocuments(
        async (key) => this.#s3(() => this.#parts.bucket.put(key)),
        async (key) => this.#s3(() => this.#parts.bucket.keys.has(key)),
      ),
      this.#parts.stripe.takeOver(),
    ];
    process.env[environmentNames.payments] = JSON.stringify(settings);
    process.env[environmentNames.apiUrl] = "https://sms.example/v1";
    return () => {
      for (const restore of restores) restore();
    };
  }

  #noteLog(line: string): void {
    // Metrics count on from an earlier run, and the stack of an error depends on the caller of the model.
    if (line.startsWith('{"_aws"')) return;
    this.#parts.observe?.(line.replaceAll(/"stack":"(?:[^"\\]|\\.)*"/g, ""));
    if (/record\.unreadable|payment\.amount_differs|TypeError/.test(line))
      this.#parts.checks.problems.push(line);
  }

  /** A request to DynamoDB, with the client's retries. */
  async #request(release: MoneyPath, client: object, command: object): Promise<unknown> {
    // The rate limit of calls to the provider is no part of the model.
    if (command instanceof UpdateCommand && String(command.input.Key?.["pk"]).startsWith("LIMIT#"))
      return { Attributes: {} };
    return withRetries(
      async () => this.#attempt(command),
      (failed) => release.repeats(client, failed),
    );
  }

  async #attempt(command: object): Promise<unknown> {
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    const fault = this.#pickFault();
    if (fault !== undefined) this.#parts.observe?.(`${this.#parts.lambda.time.nowMs} fault: ${fault}`);
    const answer = await attempt(fault, {
      carryOut: () => this.#carryOut(command),
      die: async () => this.#die(),
      later: (arrive) => void this.#parts.lambda.time.after(this.#parts.random() * minuteMs, arrive),
    });
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    return mutatedAnswer(this.#parts.mutation, command, answer);
  }

  #carryOut(command: object): unknown {
    mutateRequest(this.#parts.mutation, command);
    const isOld = mayBeOld(command) && this.#parts.lambda.happens(0.3);
    this.#parts.observe?.(
      `${this.#parts.lambda.time.nowMs} ${this.#parts.lambda.instanceName} ${describe(command)}`,
    );
    const isNew = !(command instanceof TransactWriteCommand) || this.#parts.checks.isNew(command);
    try {
      const answer = this.#parts.table.carryOut(command, isOld);
      this.#parts.observe?.(JSON.stringify(answer));
      if (isNew) this.#parts.checks.note(command);
      this.#checkEnds(command);
      return answer;
    } catch (error) {
      this.#parts.observe?.(String(error));
      throw error;
    }
  }

  /** No payment ends as unpaid that was paid a while ago. */
  #checkEnds(command: object): void {
    const { TransactItems = [command], Key } = Object(command).input;
    for (const { Update = { Key } } of TransactItems) {
      const { pk = "", sk } = Object(Update.Key);
      if (
        !String(pk).startsWith("PAYMENTS#") ||
        !this.#parts.stripe.accounts.some((each) => each.wasPaid(sk))
      )
        continue;
      const status = this.#parts.table.all().find((item) => item["pk"] === pk && item["sk"] === sk)?.[
        "status"
      ];
      if (status === "failed" || status === "expired")
        this.#parts.checks.problems.push(`${sk} ended as ${status}, although it was paid`);
    }
  }

  #pickFault(): RequestFault | undefined {
    return this.#parts.lambda.happens(requestFaultOdds)
      ? oneOf(this.#parts.random, requestFaults)
      : undefined;
  }

  /** A request to S3. */
  async #s3<Result>(apply: () => Result): Promise<Result> {
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    const fault = this.#pickFault();
    if (fault === "dies before") await this.#die();
    if (fault === "request lost" || fault === "throttled") throw new Fallible("TimeoutError");
    const result = apply();
    if (fault === "dies after") await this.#die();
    if (fault !== undefined) throw new Fallible("TimeoutError");
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    return result;
  }

  async #die(): Promise<void> {
    if (this.#parts.lambda.current === undefined) return;
    this.#parts.lambda.die();
    await this.#parts.lambda.wait(0);
  }

  async #enqueue(command: object): Promise<unknown> {
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    if (this.#parts.lambda.happens(requestFaultOdds)) {
      if (this.#parts.random() < 0.5) await this.#die();
      throw new Error("the queue is down");
    }
    this.#parts.observe?.(`${this.#parts.lambda.time.nowMs} ${describe(command)}`);
    for (const { url, body } of jobsOf(command)) if (url.endsWith("payments")) this.#parts.enqueue(body);
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    return {};
  }
}
