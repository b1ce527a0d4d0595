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

/** A message to the store: a request, or the cancellation of the request with this id. */
export type PortRequest =
  | ({ readonly id: number } & ServiceRequest)
  | { readonly id: number; readonly isCancelled: true };

/** A message from the store. */
export type PortResponse = { readonly id: number } & ServiceResponse;

/** Collects the messages of one iteration of the event loop, and posts them as one. */
export class Outbox<Message> {
  readonly #port: MessagePort;
  #messages: Message[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
  }

  post(message: Message): void {
    if (this.#messages.push(message) > 1) return;
    queueMicrotask(() => {
      this.#port.postMessage(this.#messages);
      this.#messages = [];
    });
  }
}

/** The client's end of a port to the store. */
export class StorePort {
  /** The services that it reaches. */
  readonly services: ReadonlySet<Service>;
  readonly #port: MessagePort;
  readonly #outbox: Outbox<PortRequest>;
  readonly #pending = new Map<number, PromiseWithResolvers<ServiceResponse>>();
  #lastId = 0;
  #hasEnded = false;

  constructor(port: MessagePort, services: ReadonlySet<Service>) {
    this.services = services;
    this.#port = port;
    this.#outbox = new Outbox(port);
    port.on("message", (responses: readonly PortResponse[]) => {
      for (const { id, ...response } of responses) {
        this.#pending.get(id)?.resolve(response);
        this.#pending.delete(id);
      }
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

  close(): void {
    this.#port.close();
  }

  #end(): void {
    this.#hasEnded = true;
    for (const { reject } of this.#pending.values()) reject(ended());
    this.#pending.clear();
  }
}

function ended(): Error {
  return new Error("the local store has ended");
}
