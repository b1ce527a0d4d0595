import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { Server } from "node:net";

/**
 * Lets a server listen on the loopback address; port 0 means any free one.
 * @returns the port
 * @throws Error when the port is taken
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no address");
  return address.port;
}

const loopbackHost = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Whether a request comes from a program or a page of this machine. A foreign page names itself in the origin, and by DNS
 * rebinding in the host.
 * @param allowedOrigins other origins whose pages may call; `*` for all
 */
export function isLocalRequest(
  { host = "", origin }: IncomingHttpHeaders,
  allowedOrigins: readonly string[] = [],
): boolean {
  if (!loopbackHost.test(host)) return false;
  if (origin === undefined || allowedOrigins.includes("*") || allowedOrigins.includes(origin)) return true;
  return /^https?:/.test(origin) && loopbackHost.test(origin.replace(/^\w+:\/\//, ""));
}

/** Returns the first part of the paths of a server with data. It is the secret of those who may read its address. */
export function newSecretPath(): string {
  return `/${randomBytes(24).toString("hex")}`;
}

export function isUnder(secretPath: string, path = ""): boolean {
  const expected = Buffer.from(secretPath);
  const given = Buffer.from(path).subarray(0, expected.length);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
