import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import * as z from "zod/mini";

import { setRoute } from "../../shared/carriers/manage-routes.ts";
import { CarrierRecord } from "../../shared/carriers/record.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { messageIdIn } from "../support/carriers.ts";
import { HttpCarrier } from "../support/http-carrier.ts";
import { caseOf, type Random } from "./random.ts";

/** The prefix of the numbers that are routed to the two carriers. All others are the sandbox's. */
export const routedPrefix = "44";

/** The likelihood of each behavior of a carrier. Otherwise it accepts a message and confirms it. */
const odds = {
  rejects: 0.15,
  throttles: 0.1,
  breaks: 0.04,
  "accepts and breaks": 0.04,
  "accepts and returns a 500": 0.04,
  "accepts and is late": 0.05,
  hangs: 0.004,
  "accepts and hangs": 0.004,
};
type Behaviour = keyof typeof odds | "accepts";

/** The longest delay of a response that the sender still waits for. */
const maxLateMs = 500;

const Message = z.object({ reference: z.string() });

interface NamedHttpCarrier {
  readonly name: string;
  readonly idempotent: boolean;
  readonly http: HttpCarrier;
  /** The ids of the messages that were submitted to it. */
  readonly asked: Set<string>;
  /** How often it accepted each message. */
  readonly taken: Map<string, number>;
  /** The messages that it has not definitely rejected or throttled each time. */
  readonly unsure: Set<string>;
}

/** Two carriers over HTTP, each of which accepts, rejects, hangs, responds late or breaks at random. */
export class Carriers {
  readonly #carriers: readonly NamedHttpCarrier[];
  /** Chooses their behavior. Undefined while they accept all messages. */
  #random: Random | undefined;
  readonly #problems: string[] = [];
  readonly #passedOn = new Set<string>();
  readonly counts = new Map<Behaviour, number>();

  private constructor(carriers: readonly NamedHttpCarrier[]) {
    this.#carriers = carriers;
  }

  /** Starts the carriers, and routes some numbers to them, in the gateway that the project's own code uses. */
  static async start(): Promise<Carriers> {
    const named = await Promise.all(
      ["alpha", "beta"].map(async (name) => ({
        name,
        idempotent: name === "beta",
        http: await HttpCarrier.start(() => undefined),
        asked: new Set<string>(),
        taken: new Map<string, number>(),
        unsure: new Set<string>(),
      })),
    );
    const carriers = new Carriers(named);
    for (const each of named) {
      each.http.answer = (response, _request, body) => {
        const { reference } = Message.parse(JSON.parse(body));
        void carriers.#answer(each, messageIdIn(reference), response);
      };
      await putCarrier(each.name, {
        kind: "http",
        url: each.http.url,
        body: { reference: "{reference}", to: "{to}", text: "{text}" },
        responses: [
          { meaning: "accepted", statuses: [200] },
          { meaning: "rejected", statuses: [422] },
          { meaning: "throttled", statuses: [503] },
        ],
        idempotent: each.idempotent,
      });
    }
    await putCarrier("sandbox", { kind: "sandbox" });
    await setRoute({ prefix: "", carriers: ["sandbox"] });
    await setRoute({ prefix: routedPrefix, carriers: ["alpha", "beta"] });
    return carriers;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#carriers.map(async ({ http }) => http.stop()));
  }

  /** Makes the carriers unreliable, and resets the counts. */
  becomeUnreliable(random: Random): void {
    this.#random = random;
    this.counts.clear();
    this.#passedOn.clear();
    this.#problems.length = 0;
  }

  becomeReliable(): void {
    this.#random = undefined;
  }

  /** The number of messages that were submitted to the second carrier. */
  get passedOn(): number {
    return this.#passedOn.size;
  }

  /** All problems between the carriers, and with the given messages that were routed to them, in words. */
  problemsOf(messages: readonly MessageRecord[]): string[] {
    const theirs = messages.filter(({ to }) => isRouted(to));
    const ids = new Set(theirs.map(({ id }) => id));
    const strangers = this.#carriers.flatMap(({ name, taken }) =>
      [...taken.keys()].filter((id) => !ids.has(id)).map((id) => `${name} has ${id}, which is no message`),
    );
    return [...this.#problems, ...strangers, ...theirs.flatMap((message) => this.#problemOf(message) ?? [])];
  }

  #problemOf({ id, status, errorCode, carrier }: MessageRecord): string | undefined {
    const takers = this.#carriers.flatMap(({ name, taken }) =>
      Array.from({ length: taken.get(id) ?? 0 }, () => name),
    );
    if (takers.length > 1) return `${id} was accepted by ${takers.join(" and ")}`;
    const [taker] = takers;
    if (status === "sent") {
      return taker === carrier
        ? undefined
        : `${id} is sent by ${carrier}, and ${taker ?? "no carrier"} has it`;
    }
    if (taker === undefined || errorCode === "MESSAGE_OUTCOME_UNKNOWN") return undefined;
    return `${id} is ${status} with ${errorCode}, and ${taker} has it`;
  }

  async #answer(carrier: NamedHttpCarrier, id: string, response: ServerResponse): Promise<void> {
    this.#noteAsked(carrier, id);
    const { taken, unsure, idempotent } = carrier;
    const isKnown = idempotent && taken.has(id);
    const behaviour = this.#pick();
    this.counts.set(behaviour, (this.counts.get(behaviour) ?? 0) + 1);
    // An idempotent carrier does not reject a message that it accepted before.
    if ((behaviour === "rejects" || behaviour === "throttles") && !isKnown) {
      response.writeHead(behaviour === "rejects" ? 422 : 503).end();
      return;
    }
    unsure.add(id);
    if (behaviour === "breaks") return void response.destroy();
    if (behaviour === "hangs") return;
    if (!isKnown) taken.set(id, (taken.get(id) ?? 0) + 1);
    if (behaviour === "accepts and breaks") return void response.destroy();
    if (behaviour === "accepts and hangs") return;
    if (behaviour === "accepts and is late") await delay((this.#random?.() ?? 0) * maxLateMs);
    response.writeHead(behaviour === "accepts and returns a 500" ? 500 : 200).end();
  }

  #noteAsked({ name, asked }: NamedHttpCarrier, id: string): void {
    asked.add(id);
    for (const other of this.#carriers) {
      if (other.name === name || !other.asked.has(id)) continue;
      this.#passedOn.add(id);
      if (other.unsure.has(id))
        this.#problems.push(`${name} was asked about ${id}, which ${other.name} may have`);
    }
  }

  #pick(): Behaviour {
    if (this.#random === undefined) return "accepts";
    return caseOf(this.#random, odds) ?? "accepts";
  }
}

/** Whether a number is routed to the two carriers. */
export function isRouted(to: string): boolean {
  return to.startsWith(routedPrefix);
}

async function putCarrier(name: string, settings: object): Promise<void> {
  const at = "2026-01-01T00:00:00.000Z";
  const record = CarrierRecord.parse({ entity: "carrier", name, settings, createdAt: at, updatedAt: at });
  await putItem(putOf(keys.carrier(name), record));
}
