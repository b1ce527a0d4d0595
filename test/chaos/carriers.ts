import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import * as z from "zod/mini";

import { setRoute } from "../../shared/carriers/manage.ts";
import { CarrierRecord } from "../../shared/carriers/record.ts";
import type { MessageRecord } from "../../shared/messages/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem } from "../../shared/platform/table/table.ts";
import { messageIdIn } from "../support/carriers.ts";
import { HttpCarrier } from "../support/http-carrier.ts";
import type { Random } from "./random.ts";

/** What the numbers begin with that the route to the two carriers is for; all others are the sandbox's. */
export const routedPrefix = "44";

/** How likely each thing is that a carrier does with a message; otherwise it takes it and says so. */
const odds = {
  refuses: 0.15,
  "puts off": 0.1,
  breaks: 0.04,
  "takes and breaks": 0.04,
  "takes and answers 500": 0.04,
  "takes and is late": 0.05,
  hangs: 0.004,
  "takes and hangs": 0.004,
};
type Behaviour = keyof typeof odds | "takes";

/** How late an answer is at the most that is still waited for. */
const maxLateMs = 500;

const Message = z.object({ reference: z.string() });

interface NamedHttpCarrier {
  readonly name: string;
  readonly recognisesRepeats: boolean;
  readonly http: HttpCarrier;
  /** The messages that it was asked about, by their ids. */
  readonly asked: Set<string>;
  /** How often it took each message. */
  readonly taken: Map<string, number>;
  /** Those that it has not surely refused or put off each time. */
  readonly unsure: Set<string>;
}

/** Two carriers over HTTP, of which each takes, refuses, hangs, answers late or dies at random. */
export class Carriers {
  readonly #carriers: readonly NamedHttpCarrier[];
  /** What they do is chosen by it; undefined while they take everything. */
  #random: Random | undefined;
  readonly #problems: string[] = [];
  readonly #passedOn = new Set<string>();
  readonly counts = new Map<Behaviour, number>();

  private constructor(carriers: readonly NamedHttpCarrier[]) {
    this.#carriers = carriers;
  }

  /** Starts them, and leads the messages to some numbers to them, of the gateway that the project's own code is led to. */
  static async start(): Promise<Carriers> {
    const named = await Promise.all(
      ["alpha", "beta"].map(async (name) => ({
        name,
        recognisesRepeats: name === "beta",
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
        answers: [
          { meaning: "accepted", statuses: [200] },
          { meaning: "refused", statuses: [422] },
          { meaning: "later", statuses: [503] },
        ],
        recognisesRepeats: each.recognisesRepeats,
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

  /** From now on they do what they want, and it is counted anew. */
  becomeUnreliable(random: Random): void {
    this.#random = random;
    this.counts.clear();
    this.#passedOn.clear();
    this.#problems.length = 0;
  }

  becomeReliable(): void {
    this.#random = undefined;
  }

  /** How many messages the second carrier was asked about. */
  get passedOn(): number {
    return this.#passedOn.size;
  }

  /** All that has gone wrong between them, and with those of these messages that were theirs, in words. */
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
    if (takers.length > 1) return `${id} was taken by ${takers.join(" and ")}`;
    const [taker] = takers;
    if (status === "sent") {
      return taker === carrier ? undefined : `${id} is sent by ${carrier}, and ${taker ?? "nobody"} has it`;
    }
    if (taker === undefined || errorCode === "MESSAGE_OUTCOME_UNKNOWN") return undefined;
    return `${id} is ${status} with ${errorCode}, and ${taker} has it`;
  }

  async #answer(carrier: NamedHttpCarrier, id: string, response: ServerResponse): Promise<void> {
    this.#noteAsked(carrier, id);
    const { taken, unsure, recognisesRepeats } = carrier;
    const isKnown = recognisesRepeats && taken.has(id);
    const behaviour = this.#pick();
    this.counts.set(behaviour, (this.counts.get(behaviour) ?? 0) + 1);
    // Whoever recognises what it has taken does not refuse it.
    if ((behaviour === "refuses" || behaviour === "puts off") && !isKnown) {
      response.writeHead(behaviour === "refuses" ? 422 : 503).end();
      return;
    }
    unsure.add(id);
    if (behaviour === "breaks") return void response.destroy();
    if (behaviour === "hangs") return;
    if (!isKnown) taken.set(id, (taken.get(id) ?? 0) + 1);
    if (behaviour === "takes and breaks") return void response.destroy();
    if (behaviour === "takes and hangs") return;
    if (behaviour === "takes and is late") await delay((this.#random?.() ?? 0) * maxLateMs);
    response.writeHead(behaviour === "takes and answers 500" ? 500 : 200).end();
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
    if (this.#random === undefined) return "takes";
    let left = this.#random();
    for (const [behaviour, likelihood] of Object.entries(odds)) {
      left -= likelihood;
      // The entries are those of the table of behaviours.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      if (left < 0) return behaviour as Behaviour;
    }
    return "takes";
  }
}

/** Whether a number is one of those that the route to the two carriers is for. */
export function isRouted(to: string): boolean {
  return to.startsWith(routedPrefix);
}

async function putCarrier(name: string, settings: object): Promise<void> {
  const at = "2026-01-01T00:00:00.000Z";
  const record = CarrierRecord.parse({ entity: "carrier", name, settings, createdAt: at, updatedAt: at });
  await putItem({ put: { ...keys.carrier(name), ...record } });
}
