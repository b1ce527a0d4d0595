import type { Carrier, SubmitResult, OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { finalDeliveries, type FinalDelivery } from "../../shared/messages/message/record.ts";
import { segmentsOf } from "../../shared/messages/message/segments.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { oneOf } from "../chaos/random.ts";
import { messageIdIn } from "../support/carriers.ts";
import type { Lambda } from "./lambda.ts";

/** The shares of accepted and of rejected messages for which a carrier sends a receipt. */
const receiptOdds = 0.5;
const receiptOfRejectedOdds = 0.2;

/** The response time of a carrier, and that of one that responds too late. */
const answerMs = 400;
const lateAnswerMs = 27 * secondMs;

/** The share of possible deaths that happen. A death affects all messages that the sender holds. */
const deathOdds = 0.2;

const behaviors = [
  "accepts",
  "accepts",
  "accepts",
  "rejects",
  "finds the number invalid",
  "throttles",
  "is unreachable",
  "hangs",
  "accepts and hangs",
  "accepts and is late",
  "accepts and breaks",
  "breaks",
  "dies with the sender",
  "accepts and dies with the sender",
] as const;
type Behavior = (typeof behaviors)[number];

/** Receives the events of a carrier. */
interface Observer {
  /** Whether carriers throttle a message in any case. */
  readonly isUnwanted: (messageId: string) => boolean;
  readonly asked: (carrier: string, messageId: string) => void;
  readonly answered: (carrier: string, messageId: string, behavior: string) => void;
  readonly tells: (carrier: string, messageId: string, status: FinalDelivery) => void;
}

/**
 * A carrier that accepts, rejects, throttles, hangs, responds late, is unreachable or dies with its sender at random. It
 * sends receipts for some messages.
 */
export class UnreliableCarrier implements Carrier {
  readonly name: string;
  readonly idempotent: boolean;
  /** The number of times that each message was accepted: at most one for an idempotent carrier. */
  readonly taken = new Map<string, number>();
  /** The number of submissions of each message whose outcome is unknown. */
  readonly open = new Map<string, number>();
  /** The accepted segments of each message. */
  readonly segments = new Map<string, number>();
  readonly #recognizes: boolean;
  readonly #lambda: Lambda;
  readonly #observer: Observer;

  /** @param claimsToRecognize whether it claims to be idempotent, truly or not */
  constructor(
    name: string,
    recognizes: boolean,
    {
      lambda,
      observer,
      claimsToRecognize = recognizes,
    }: { readonly lambda: Lambda; readonly observer: Observer; readonly claimsToRecognize?: boolean },
  ) {
    this.name = name;
    this.idempotent = claimsToRecognize;
    this.#recognizes = recognizes;
    this.#lambda = lambda;
    this.#observer = observer;
  }

  async send({ reference, text, encoding }: OutgoingMessage): Promise<SubmitResult> {
    const id = messageIdIn(reference);
    this.#observer.asked(this.name, id);
    this.open.set(id, (this.open.get(id) ?? 0) + 1);
    // It continues even if its caller dies.
    await this.#lambda.time.sleep(this.#lambda.random() * answerMs);
    const behavior = this.#behaviorTo(id);
    this.#observer.answered(this.name, id, behavior);
    if (behavior.startsWith("accepts")) this.#take(id, text, encoding);
    if (behavior === "rejects" && this.#lambda.random() < receiptOfRejectedOdds) {
      this.#observer.tells(this.name, id, "undelivered");
    }
    if (behavior.endsWith("dies with the sender")) this.#lambda.die();
    await this.#lambda.wait(behavior === "accepts and is late" ? lateAnswerMs : 0);
    return this.#answer(id, behavior);
  }

  async #answer(id: string, behavior: Behavior): Promise<SubmitResult> {
    switch (behavior) {
      case "accepts":
      case "accepts and is late":
        return { outcome: "accepted", carrierReference: id };
      case "rejects":
        return this.#surely(id, { outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" });
      case "finds the number invalid":
        return this.#surely(id, { outcome: "rejected", errorCode: "MESSAGE_INVALID_DESTINATION" });
      case "throttles":
        return this.#surely(id, { outcome: "throttled" });
      case "is unreachable":
        return this.#surely(id, { outcome: "unreachable", reason: "ECONNREFUSED" });
      case "breaks":
      case "accepts and breaks":
        throw new Error("the connection broke");
      case "hangs":
      case "accepts and hangs":
      case "dies with the sender":
      case "accepts and dies with the sender":
        return new Promise(() => undefined);
    }
  }

  #behaviorTo(id: string): Behavior {
    if (this.#observer.isUnwanted(id)) return "throttles";
    if (!this.#lambda.isFaulty) return "accepts";
    const behavior = oneOf(this.#lambda.random, behaviors);
    if (behavior.endsWith("dies with the sender") && this.#lambda.random() >= deathOdds) return "accepts";
    // An idempotent carrier does not reject a message that it accepted before.
    const isRejection = behavior === "rejects" || behavior === "finds the number invalid";
    return isRejection && this.#recognizes && this.taken.has(id) ? "accepts" : behavior;
  }

  /** Returns a definite outcome. */
  #surely(id: string, answer: SubmitResult): SubmitResult {
    this.open.set(id, (this.open.get(id) ?? 0) - 1);
    return answer;
  }

  #take(id: string, text: string, encoding: OutgoingMessage["encoding"]): void {
    if (this.#recognizes && this.taken.has(id)) return;
    this.taken.set(id, (this.taken.get(id) ?? 0) + 1);
    const { segments } = segmentsOf(text, { unicode: encoding === "UCS-2" });
    this.segments.set(id, (this.segments.get(id) ?? 0) + segments);
    if (this.#lambda.random() < receiptOdds) {
      this.#observer.tells(this.name, id, oneOf(this.#lambda.random, finalDeliveries));
    }
  }
}
