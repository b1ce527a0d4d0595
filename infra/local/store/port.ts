import type { MessagePort } from "node:worker_threads";

// Requests to the local store through a message port. Every function's thread loads this file, so it imports only types.

export type Service = "dynamodb" | "sqs";

export interface ServiceRequest {
  readonly service: Service;
  /** For example `UpdateItem`. */
  readonly operation: string;
  /** The operation's input as JSON. */
  readonly body: string;
  /** The X-Amzn-Trace-Id of the call that makes the request, if any. */
  readonly traceId?: string | undefined;
}

/** A service's response: an HTTP status, and the output or `{ __type, message }` as JSON. */
export interface ServiceResponse {
  readonly status: number;
  readonly body: string;
}

/** A message to the store: a request, a wait for a group of writes, or the cancellation of the request with this id. */
export type PortRequest =
  | ({ readonly id: number } & ServiceRequest)
  | { readonly group: number }
  | { readonly id: number; readonly isCancelled: true };

/** A message from the store. */
export type PortResponse =
  | ({
      readonly id: number;
      /** The latest group of writes that the response may show, if the disk does not have it yet. */
      readonly group?: number | undefined;
      /** Whether the store reports by itself when the disk has that group. */
      readonly isReported?: boolean;
      /** The latest group that the disk has. */
      readonly keptGroup: number;
    } & ServiceResponse)
  | { readonly keptGroup: number }
  /** No response came, for this reason. */
  | { readonly id: number; readonly reason: string };

/** Collects the messages of one iteration of the event loop, and posts them as one. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  #messages: Message[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  post(message: Message): void {
    if (this.#messages.push(message) > 1) return;
    // At the end of the iteration, so that parallel requests share a post. It wakes another thread, which costs more than most
    // requests.
    setImmediate(() => {
      this.#port.postMessage(this.#messages);
      this.#messages = [];
    });
  }
}

/** A wait until the disk has a group of writes and all earlier ones. */
interface Wait extends PromiseWithResolvers<void> {
  readonly group: number;
}

/** How long a wait that is not urgent lasts until the store is asked about the disk. */
const patienceMs = 20;

/** The client's end of a port to the store. */
export class StorePort {
  /** The services that it reaches. */
  readonly services: ReadonlySet<Service>;
  readonly #port: MessagePort;
  readonly #outbox: Outbox<PortRequest>;
  readonly #pending = new Map<number, PromiseWithResolvers<ServiceResponse>>();
  #waits: Wait[] = [];
  #lastId = 0;
  #hasEnded = false;
  #seenGroup = 0;
  #keptGroup = 0;
  /** The latest group that the store will report: it was asked, or it does so by itself. */
  #awaitedGroup = 0;

  constructor(port: MessagePort, services: ReadonlySet<Service>) {
    this.services = services;
    this.#port = port;
    this.#outbox = new Outbox(port);
    port.on("message", (responses: readonly PortResponse[]) => {
      for (const response of responses) this.#receive(response);
    });
    port.on("close", () => this.#end());
  }

  /**
   * Sends a request. An error of the service is a response too.
   * @param signal ends a wait for messages, whose response then has none
   * @throws Error when the store has ended
   */
  async send(
    service: Service,
    operation: string,
    body: string,
    traceId?: string,
    signal?: AbortSignal,
  ): Promise<ServiceResponse> {
    if (this.#hasEnded) throw ended();
    const id = (this.#lastId += 1);
    const pending = Promise.withResolvers<ServiceResponse>();
    this.#pending.set(id, pending);
    this.#outbox.post({ id, service, operation, body, traceId });
    if (signal === undefined) return pending.promise;
    const cancel = (): void => this.#outbox.post({ id, isCancelled: true });
    signal.addEventListener("abort", cancel, { once: true });
    return pending.promise.finally(() => signal.removeEventListener("abort", cancel));
  }

  /** The latest group of writes that a response has shown. */
  get seenGroup(): number {
    return this.#seenGroup;
  }

  /** The latest group that the disk has, as far as this side knows. */
  get keptGroup(): number {
    return this.#keptGroup;
  }

  /** Whether the disk has all writes up to a group, as far as this side knows. */
  isKept(group = this.#seenGroup): boolean {
    return group <= this.#keptGroup;
  }

  /**
   * Waits until the disk has all writes up to a group, by default those that the responses so far may show. Nothing that
   * shows them may leave the gateway before.
   * @throws Error when the store has ended
   */
  async kept(group = this.#seenGroup): Promise<void> {
    if (this.isKept(group)) return;
    this.#ask(group);
    await this.#waitFor(group);
  }

  /** Waits as `kept` does, but asks the store only after a moment. Before, the response to another request mostly reports it. */
  async keptSoon(group: number): Promise<void> {
    if (this.isKept(group)) return;
    const timer = setTimeout(() => this.#ask(group), patienceMs);
    await this.#waitFor(group).finally(() => clearTimeout(timer));
  }

  close(): void {
    this.#port.close();
  }

  /** Has the store report when the disk has a group. */
  #ask(group: number): void {
    if (group <= this.#awaitedGroup) return;
    this.#awaitedGroup = group;
    this.#outbox.post({ group });
  }

  async #waitFor(group: number): Promise<void> {
    if (this.#hasEnded) throw ended();
    const wait = { group, ...Promise.withResolvers<void>() };
    this.#waits.push(wait);
    await wait.promise;
  }

  #keep(group: number): void {
    if (group <= this.#keptGroup) return;
    this.#keptGroup = group;
    const kept = this.#waits.filter((wait) => wait.group <= group);
    this.#waits = this.#waits.filter((wait) => wait.group > group);
    for (const { resolve } of kept) resolve();
  }

  #receive(response: PortResponse): void {
    if ("keptGroup" in response) this.#keep(response.keptGroup);
    if (!("status" in response || "reason" in response)) return;
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if ("reason" in response) {
      pending?.reject(Object.assign(new Error(response.reason), { code: "ECONNRESET" }));
      return;
    }
    const { group = 0, isReported = false, status, body } = response;
    this.#seenGroup = Math.max(this.#seenGroup, group);
    if (isReported) this.#awaitedGroup = Math.max(this.#awaitedGroup, group);
    pending?.resolve({ status, body });
  }

  #end(): void {
    this.#hasEnded = true;
    for (const { reject } of [...this.#pending.values(), ...this.#waits]) reject(ended());
    this.#pending.clear();
    this.#waits = [];
  }
}

function ended(): Error {
  return new Error("the local store has ended");
}
