import type { Random } from "../chaos/random.ts";
import { mutateRequest, mutatedAnswer, type CarrierMutation } from "./carrier-mutations.ts";
import type { CarrierPath } from "./carriers.ts";
import { withOwnClass } from "./command-classes.ts";
import { jobsOf, mayBeOld } from "./faulty-requests.ts";
import type { Lambda } from "./lambda.ts";
import type { MemoryTable } from "./memory-table.ts";
import { takeOver } from "./runtime.ts";
import { describe, type Observe } from "./trace.ts";

interface Parts {
  readonly random: Random;
  readonly lambda: Lambda;
  readonly table: MemoryTable;
  readonly mutation: CarrierMutation | undefined;
  readonly releases: readonly CarrierPath[];
  readonly observe: Observe | undefined;
  /** Receive the jobs of refunds and of sends. */
  readonly refund: (body: string) => void;
  readonly send: (body: string, delaySeconds: number) => void;
}

/** AWS as the functions of the model of carriers see it: requests take time, and arrive even if their function dies. */
export class CarrierAws {
  readonly #parts: Parts;
  #requests = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Replaces the table, the queues and the clocks of AWS with those of this world. @returns what restores them */
  takeOver(): () => void {
    const restores = [
      takeOver({
        nowMs: () => this.#parts.lambda.nowMs(),
        random: this.#parts.random,
        sleep: async (delayMs) => this.#parts.lambda.wait(delayMs),
        after: (delayMs, happen) => this.#parts.lambda.time.after(delayMs, happen),
      }),
      ...this.#parts.releases.map((release) =>
        release.connect({
          request: async (_, command) => this.#request(withOwnClass(command)),
          enqueue: async (command) => this.#enqueue(withOwnClass(command)),
          instanceName: () => this.#parts.lambda.instanceName,
        }),
      ),
    ];
    return () => {
      for (const restore of restores) restore();
    };
  }

  async #request(command: object): Promise<unknown> {
    this.#requests += 1;
    const name = `${this.#requests} ${this.#parts.lambda.instanceName}`;
    this.#parts.observe?.(`${this.#parts.lambda.time.nowMs} ${name} ${describe(command)}`);
    await this.#parts.lambda.wait(0);
    // The request arrives even if its sender dies.
    await this.#parts.lambda.time.sleep(this.#parts.lambda.wayMs());
    mutateRequest(this.#parts.mutation, command);
    const isOld = mayBeOld(command) && this.#parts.random() < 0.3;
    let answer: unknown;
    let failure: unknown;
    try {
      answer = this.#parts.table.carryOut(command, isOld);
    } catch (error) {
      failure = error;
    }
    this.#parts.observe?.(`${this.#parts.lambda.time.nowMs} ${name} ${JSON.stringify(failure ?? answer)}`);
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    if (failure !== undefined) throw failure;
    return mutatedAnswer(this.#parts.mutation, answer);
  }

  async #enqueue(command: object): Promise<unknown> {
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    this.#parts.observe?.(
      `${this.#parts.lambda.time.nowMs} ${this.#parts.lambda.instanceName} ${describe(command)}`,
    );
    for (const { url, body, delaySeconds } of jobsOf(command)) {
      if (url.endsWith("refunds")) this.#parts.refund(body);
      else if (url.endsWith("Sends")) this.#parts.send(body, delaySeconds);
    }
    await this.#parts.lambda.wait(this.#parts.lambda.wayMs());
    return {};
  }
}
