import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { Server } from "node:net";

/**
 * Lets a server listen on a loopback address; port 0 means any free one.
 * @returns the port
 * @throws Error when the port is taken
 */
export async function listenOnLoopback(server: Server, port = 0, address = "127.0.0.1"): Promise<number> {
  server.listen(port, address);
  await once(server, "listening");
  const bound = server.address();
  if (typeof bound !== "object" || bound === null) throw new Error("the server has no address");
  return bound.port;
}

/**
 * Lets a second server listen on the same port of the IPv6 loopback address, which some programs take for `localhost`. A
 * machine without IPv6 has none.
 * @throws Error when another program has the port
 */
export async function listenOnIpv6Loopback(server: Server, port: number): Promise<void> {
  await listenOnLoopback(server, port, "::1").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRNOTAVAIL" && error.code !== "EAFNOSUPPORT") throw error;
  });
}

/**
 * Reads a port from a variable of the environment.
 * @throws Error when it is not a port
 */
export function portSetting(name: string, otherwise: number): number {
  const text = process.env[name]?.trim() ?? String(otherwise);
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`${name} must be a port from 0 to 65535, not "${text}".`);
}

const loopbackHost = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/** Hosts and origins from which a server accepts requests too. */
interface AllowedCallers {
  /** Names of this machine, in lower case and without a port, such as `host.docker.internal`. */
  readonly hosts?: readonly string[];
  /** Origins whose pages may call; `*` for all. */
  readonly origins?: readonly string[];
}

/**
 * Whether a request comes from a program or a page of this machine. A foreign page names itself in the origin, and by DNS
 * rebinding in the host.
 */
export function isLocalRequest(
  { host = "", origin }: IncomingHttpHeaders,
  { hosts = [], origins = [] }: AllowedCallers = {},
): boolean {
  if (!isLocalHost(host, hosts)) return false;
  return (
    origin === undefined || origins.includes("*") || origins.includes(origin) || isLocalOrigin(origin, hosts)
  );
}

function isLocalOrigin(origin: string, hosts: readonly string[]): boolean {
  return /^https?:/.test(origin) && isLocalHost(origin.replace(/^\w+:\/\//, ""), hosts);
}

function isLocalHost(host: string, hosts: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return loopbackHost.test(name) || hosts.includes(name);
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
