import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import { invalidField } from "../../api/contract/errors.ts";
import { config } from "../config.ts";

/** A host that must not be called. */
export class RejectedHost extends Error {
  constructor() {
    super("the webhook's host is not a public address");
  }
}

/**
 * Checks the address of a webhook endpoint. The addresses that its host resolves to can change at any time, so each call
 * checks them.
 * @param value an `EndpointUrl` of the contract
 * @param field the field of the request that has it
 * @throws ApiError VALIDATION_ERROR
 */
export function checkWebhookUrl(value: string, field = "url"): void {
  const problem = problemOf(new URL(value));
  if (problem !== undefined) throw invalidField(field, problem);
}

function problemOf(url: URL): string | undefined {
  if (url.username !== "" || url.password !== "") return "must not carry a user name or a password";
  if (config.webhookTargets() === "any") {
    return url.protocol === "https:" || url.protocol === "http:" ? undefined : "must be http or https";
  }
  if (url.protocol !== "https:") return "must be https";
  if (url.port !== "") return "must use port 443";
  return isPublicHost(url) ? undefined : "must be a public address";
}

/** Returns whether a URL's host may be called, judged by its name alone. */
export function isPublicHost(url: URL): boolean {
  if (config.webhookTargets() === "any") return true;
  // The URL parser has already turned every spelling of an IPv4 address, such as 0x7f.1, into the plain one.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? !/(^|\.)localhost\.?$/.test(host) : isPublicAddress(host);
}

/**
 * Resolves a host for a connection, and rejects it when any of its addresses is not public. The connection uses the
 * checked address, so a name that changes between two lookups gains nothing. Node does not look up IP literals:
 * `isPublicHost` checks those.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, []);
    if (config.webhookTargets() !== "any" && !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new RejectedHost(), []);
    }
    return callback(null, addresses);
  });
};

/** The allocated part of IPv6. Other addresses that the library calls unicast, such as ::7f00:1, are not public. */
const givenOut = ipaddr.IPv6.parseCIDR("2000::/3");

function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(givenOut);
}
