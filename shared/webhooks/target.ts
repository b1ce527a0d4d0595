import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";

import ipaddr from "ipaddr.js";

import { invalidField } from "../contract/errors.ts";
import { config } from "../platform/config.ts";

/** A host that must not be dialled. */
export class RefusedHost extends Error {
  constructor() {
    super("the webhook's host is not a public address");
  }
}

/**
 * Checks the address of a webhook endpoint. What its host resolves to is checked when it is dialled, because
 * it can change at any time.
 * @throws ApiError VALIDATION_ERROR
 */
export function checkWebhookUrl(value: string): void {
  const url = URL.parse(value);
  if (url === null) throw invalidField("url", "must be a URL");
  const problem = problemOf(url);
  if (problem !== undefined) throw invalidField("url", problem);
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

/** Whether a URL's host may be dialled as far as its name tells. */
export function isPublicHost(url: URL): boolean {
  if (config.webhookTargets() === "any") return true;
  // The URL parser has already turned every spelling of an IPv4 address, such as 0x7f.1, into the plain one.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? !/(^|\.)localhost\.?$/.test(host) : isPublicAddress(host);
}

/**
 * Resolves a host for a connection and refuses it when any of its addresses is not public. The address that
 * is checked is the one that is dialled, so a name that changes between two lookups gains nothing. Node asks
 * no lookup about an IP literal: those are checked by `isPublicHost`.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, []);
    if (config.webhookTargets() !== "any" && !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new RefusedHost(), []);
    }
    return callback(null, addresses);
  });
};

/** Of IPv6 only 2000::/3 is given out; what the library also calls unicast, such as ::7f00:1, leads elsewhere. */
const givenOut = ipaddr.IPv6.parseCIDR("2000::/3");

function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(givenOut);
}
