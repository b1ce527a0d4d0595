import type http from "node:http";

// Each function's thread loads this file, so it imports only types.

type Http = Pick<typeof http, "Agent" | "ClientRequest">;

/** A request before it has a connection. Node does not document `onSocket`. */
interface HeldRequest {
  readonly destroyed: boolean;
  destroy(error?: Error): unknown;
  onSocket(socket: null): void;
}

/** The part of an agent that gets each request first. Node does not document it. */
interface HoldableAgent {
  addRequest(request: HeldRequest, ...others: unknown[]): void;
}

/** @throws Error with a version of Node in which a request cannot be held */
export function holdableAgent({ Agent, ClientRequest }: Http): HoldableAgent {
  const agent: HoldableAgent & object = Object(Agent.prototype);
  if (typeof agent.addRequest === "function" && "onSocket" in ClientRequest.prototype) return agent;
  throw new Error(`the local gateway cannot hold requests with Node ${process.version}`);
}

/**
 * Holds each request of this thread over HTTP and HTTPS until the disk has all that the thread has written or read. Its time
 * limits run meanwhile. A request that ends before is never sent.
 */
export function holdRequests(from: Http, store: { isKept(): boolean; kept(): Promise<void> }): void {
  const { fetch } = globalThis;
  globalThis.fetch = async (...request) => {
    await store.kept();
    return fetch(...request);
  };
  const agent = holdableAgent(from);
  const addRequest = Reflect.get(agent, "addRequest");
  const addWhenKept = async (
    adding: HoldableAgent,
    request: HeldRequest,
    others: unknown[],
  ): Promise<void> => {
    const destroy = request.destroy.bind(request);
    request.destroy = (error) => {
      destroy(error);
      // Without a socket, only this lets it emit its error.
      request.onSocket(null);
      return request;
    };
    await store.kept();
    if (request.destroyed) return;
    request.destroy = destroy;
    addRequest.call(adding, request, ...others);
  };
  agent.addRequest = function hold(request, ...others) {
    if (store.isKept()) addRequest.call(this, request, ...others);
    else void addWhenKept(this, request, others);
  };
}
