import { newBalanceTransaction, type Base, type ObjectOf, type StripeObject } from "./objects.ts";

/** An error in the form of Stripe's API. */
export class StripeApiError extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(message: string, fields: Readonly<Record<string, unknown>> = {}, status = 400) {
    super(message);
    this.status = status;
    this.fields = { type: "invalid_request_error", message, ...fields };
  }
}

export function unexpectedState(message: string): StripeApiError {
  return new StripeApiError(message, { code: "payment_intent_unexpected_state" });
}

export interface StripeEvent extends Base {
  readonly object: "event";
  readonly type: string;
  readonly api_version: string;
  readonly data: { readonly object: object };
}

export interface StripeWorld {
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns a new id with this prefix. */
  readonly newId: (prefix: string) => string;
  readonly emit: (event: StripeEvent) => void;
  /** The time between a payment or a refund and the later effect of its card. */
  readonly laterSeconds: number;
}

/** All objects of an account, in the order of their creation. */
export class ObjectStore {
  readonly laterSeconds: number;
  readonly #world: StripeWorld;
  readonly #objects: Map<string, StripeObject>;

  constructor(world: StripeWorld, objects: readonly StripeObject[]) {
    this.#world = world;
    this.laterSeconds = world.laterSeconds;
    this.#objects = new Map(objects.map((object) => [object.id, object]));
  }

  everything(): readonly StripeObject[] {
    return [...this.#objects.values()];
  }

  all<Kind extends StripeObject["object"]>(kind: Kind): ObjectOf<Kind>[] {
    return this.everything().filter((each) => isOf(each, kind));
  }

  find(id: string): StripeObject | undefined {
    return this.#objects.get(id);
  }

  /** @param param the parameter that has the id, if the path does not have it */
  get<Kind extends StripeObject["object"]>(kind: Kind, id: string, param?: string): ObjectOf<Kind> {
    const found = this.#objects.get(id);
    if (found !== undefined && isOf(found, kind)) return found;
    const fields = { code: "resource_missing", param: param ?? "id" };
    throw new StripeApiError(`No such ${kind}: '${id}'`, fields, param === undefined ? 404 : 400);
  }

  add<Added extends StripeObject>(object: Added): Added {
    this.#objects.set(object.id, object);
    return object;
  }

  base(prefix: string): Base {
    return { id: this.#world.newId(prefix), created: this.seconds(), livemode: false };
  }

  /** Adds a movement of the account's own money. */
  move(source: { id: string; currency: string }, type: string, amount: number, fee = 0) {
    return this.add(newBalanceTransaction(this.base("txn"), source, { type, amount, fee }));
  }

  emit(type: string, object: StripeObject): void {
    const data = { object: published(object) };
    this.#world.emit({ ...this.base("evt"), object: "event", type, api_version: "2026-10-28.endive", data });
  }

  seconds(): number {
    return Math.floor(this.#world.now() / 1_000);
  }
}

/** Returns a copy of an object without the parts that no response has. */
export function published(object: StripeObject): object {
  return { ...structuredClone(object), params: undefined };
}

function isOf<Kind extends StripeObject["object"]>(
  object: StripeObject,
  kind: Kind,
): object is ObjectOf<Kind> {
  return object.object === kind;
}
