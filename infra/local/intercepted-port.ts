import { MessageChannel } from "node:worker_threads";

import type { FunctionPort } from "./data-services.ts";
import { traceHeader } from "./lineage.ts";
import type { AwsHandler, LocalAwsOptions } from "./local-aws.ts";
import { Outbox, StorePort, type PortRequest, type PortResponse, type ServiceRequest } from "./store/port.ts";

/**
 * Puts an interceptor between a function and its port to the store. The other end stays open after the function has ended,
 * because a request that was on its way arrives nevertheless.
 */
export function interceptedPort(
  { port, services }: FunctionPort,
  functionName: string,
  interceptor: NonNullable<LocalAwsOptions["interceptor"]>,
): FunctionPort {
  const store = new StorePort(port, services);
  const { port1, port2 } = new MessageChannel();
  const outbox = new Outbox<PortResponse>(port1);
  const next: AwsHandler = async ({ operation: named, headers, body }) => {
    const [service, operation = ""] = named.split(":");
    const response = await store.send(
      service === "sqs" ? "sqs" : "dynamodb",
      operation,
      body,
      headers[traceHeader],
    );
    return { ...response, headers: {} };
  };
  const serve = async (id: number, { service, operation, body, traceId }: ServiceRequest): Promise<void> => {
    const headers: Record<string, string> = traceId === undefined ? {} : { [traceHeader]: traceId };
    const request = { functionName, operation: `${service}:${operation}`, headers, body, connection: {} };
    try {
      const { status, body: answered } = await interceptor(request, next);
      outbox.post({ id, status, body: answered, group: store.seenGroup, keptGroup: store.keptGroup });
    } catch (error) {
      outbox.post({ id, reason: String(error) });
    }
  };
  port1.on("message", (requests: readonly PortRequest[]) => {
    for (const request of requests) {
      if ("operation" in request) void serve(request.id, request);
      else if ("group" in request) {
        store.kept(request.group).then(
          () => outbox.post({ keptGroup: store.keptGroup }),
          // The store has ended, and the gateway with it.
          () => undefined,
        );
      }
    }
  });
  return { port: port2, services };
}
