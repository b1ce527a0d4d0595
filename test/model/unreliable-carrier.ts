import type { Carrier, HandOff, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { finalDeliveries, type FinalDelivery } from "../../shared/messages/record.ts";
import { segmentsOf } from "../../shared/messages/segments.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { oneOf } from "../chaos/random.ts";
import { messageIdIn } from "../support/carriers.ts";
import type { Lambda } from "./lambda.ts";

/** How many of the messages that a carrier takes it tells of, and of how many of those that it refuses. */
const receiptOdds = 0.5;
const receiptOfRefusedOdds = 0.2;

/** How long a carrier takes to answer, and one that answers too late. */
const answerMs = 400;
const lateAnswerMs = 27 * secondMs;

/** How many of the deaths happen that behaviours ask for: each takes all messages along that its sender holds. */
const deathOdds = 0.2;

const behaviours = [
  "takes",
  "takes",
  "takes",
  "refuses",
  "is given a number that cannot be",
  "puts off",
  "is not reached",
  "hangs",
  "takes and hangs",
  "takes and is late",
  "takes and breaks",
  "breaks",
  "dies with the sender",
  "takes and dies with the sender",
] as const;
type Behaviour = (typeof behaviours)[number];

/** What a carrier's world sees of it. */
interface Observer {
  /** Whether carriers put a message off, whatever else they do. */
  readonly isUnwanted: (messageId: string) => boolean;
  readonly asked: (carrier: string, messageId: string) => void;
  readonly answered: (carrier: string, messageId: string, behaviour: string) => void;
  readonly tells: (carrier: string, messageId: string, status: FinalDelivery) => void;
}

/**
 * A carrier that takes, refuses, puts off, hangs, answers late, cannot be reached or dies with its sender at random, and
 * tells of some messages by receipts.
 */
export class UnreliableCarrier implements Carrier {
  readonly name: string;
  readonly deduplicates: boolean;
  /** How often each message was taken; by a carrier that recognises repeats once. */
  readonly taken = new Map<string, number>();
  /** Of each message that it was asked about, of how many questions nobody knows what it did. */
  readonly open = new Map<string, number>();
  /** Segments of what it has taken, by message. */
  readonly segments = new Map<string, number>();
  readonly #recognises: boolean;
  readonly #lambda: Lambda;
  readonly #observer: Observer;

  /** @param claimsToRecognise whether it says that it recognises repeats, truly or not */
  constructor(
    name: string,
    recognises: boolean,
    {
      lambda,
      observer,
      claimsToRecognise = recognises,
    }: { readonly lambda: Lambda; readonly observer: Observer; readonly claimsToRecognise?: boolean },
  ) {
    this.name = name;
    this.deduplicates = claimsToRecognise;
    this.#recognises = recognises;
    this.#lambda = lambda;
    this.#observer = observer;
  }

  async send({ reference, text, encoding }: OutgoingMessage): Promise<HandOff> {
    const id = messageIdIn(reference);
    this.#observer.asked(this.name, id);
    this.open.set(id, (this.open.get(id) ?? 0) + 1);
    // It works on whatever becomes of its caller.
    await this.#lambda.time.sleep(this.#lambda.random() * answerMs);
    const behaviour = this.#behaviourTo(id);
    this.#observer.answered(this.name, id, behaviour);
    if (behaviour.startsWith("takes")) this.#take(id, text, encoding);
    if (behaviour === "refuses" && this.#lambda.random() < receiptOfRefusedOdds) {
      this.#observer.tells(this.name, id, "undelivered");
    }
    if (behaviour.endsWith("dies with the sender")) this.#lambda.die();
    await this.#lambda.wait(behaviour === "takes and is late" ? lateAnswerMs : 0);
    return this.#answer(id, behaviour);
  }

  async #answer(id: string, behaviour: Behaviour): Promise<HandOff> {
    switch (behaviour) {
      case "takes":
      case "takes and is late":
        return { outcome: "accepted", carrierReference: id };
      case "refuses":
        return this.#surely(id, { outcome: "refused", errorCode: "MESSAGE_UNROUTABLE" });
      case "is given a number that cannot be":
        return this.#surely(id, { outcome: "refused", errorCode: "MESSAGE_INVALID_DESTINATION" });
      case "puts off":
        return this.#surely(id, { outcome: "tryLater" });
      case "is not reached":
        return this.#surely(id, { outcome: "notReached", reason: "ECONNREFUSED" });
      case "breaks":
      case "takes and breaks":
        throw new Error("the connection broke");
      case "hangs":
      case "takes and hangs":
      case "dies with the sender":
      case "takes and dies with the sender":
        return new Promise(() => undefined);
    }
  }

  #behaviourTo(id: string): Behaviour {
    if (this.#observer.isUnwanted(id)) return "puts off";
    if (!this.#lambda.isFaulty) return "takes";
    const behaviour = oneOf(this.#lambda.random, behaviours);
    if (behaviour.endsWith("dies with the sender") && this.#lambda.random() >= deathOdds) return "takes";
    // A carrier that recognises what it has taken does not refuse it.
    const isRefusal = behaviour === "refuses" || behaviour === "is given a number that cannot be";
    return isRefusal && this.#recognises && this.taken.has(id) ? "takes" : behaviour;
  }

  /** Answers a question in a way that leaves nothing open. */
  #surely(id: string, answer: HandOff): HandOff {
    this.open.set(id, (this.open.get(id) ?? 0) - 1);
    return answer;
  }

  #take(id: string, text: string, encoding: OutgoingMessage["encoding"]): void {
    if (this.#recognises && this.taken.has(id)) return;
    this.taken.set(id, (this.taken.get(id) ?? 0) + 1);
    const { segments } = segmentsOf(text, { unicode: encoding === "UCS-2" });
    this.segments.set(id, (this.segments.get(id) ?? 0) + segments);
    if (this.#lambda.random() < receiptOdds) {
      this.#observer.tells(this.name, id, oneOf(this.#lambda.random, finalDeliveries));
    }
  }
}
