import type { MessagePort } from "node:worker_threads";

/*
 * How a thread asks the local store through a message port. Every function's thread loads this, hence no schemas and no
 * imports that stay.
 */

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

/** What a service answers: an HTTP status, and the output or `{ __type, message }` as JSON. */
export interface ServiceResponse {
  readonly status: number;
  readonly body: string;
}

/** What travels to the store, many at once; a request is named by its id, also to cancel it. */
export type PortRequest =
  | ({ readonly id: number } & ServiceRequest)
  | { readonly id: number; readonly isCancelled: true };

/** What travels back, many at once. */
export type PortResponse = { readonly id: number } & ServiceResponse;

/** Collects the messages of one turn of the event loop, and posts them as one. */
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

/** The end of a port to the store from which requests are made. */
export class StorePort {
  /** Those that can be asked through it. */
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
    port.on("message", (answers: readonly PortResponse[]) => {
      for (const { id, ...answer } of answers) {
        this.#pending.get(id)?.resolve(answer);
        this.#pending.delete(id);
      }
    });
    port.on("close", () => this.#end());
  }

  /**
   * Makes a request. A service's error is an answer too.
   * @param signal ends a wait for messages, which is then answered with none
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
