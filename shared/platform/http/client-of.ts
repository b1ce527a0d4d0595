import type { request } from "node:http";

/**
 * Returns the function that sends a request of a protocol, and loads its module with the first call. An `import` of
 * `node:http` reads all properties of the module. That loads another HTTP client, which takes 40 ms of CPU at each cold start.
 * @param protocol of a URL, with its colon
 */
export function requestOf(protocol: string): typeof request {
  return protocol === "https:"
    ? process.getBuiltinModule("node:https").request
    : process.getBuiltinModule("node:http").request;
}
