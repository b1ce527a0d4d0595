import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";

/*
 * The version of an item that people edit counts their changes. A change that names the version that a person saw applies to no
 * other one. It belongs in a transaction, whose repetition after a lost response does not find another version. Versions begin
 * with 1. An item of release 0.4.0 has none, which is the version 0 until its first change.
 */

export const versionField = z._default(z.int().check(z.nonnegative()), 0);

/** Returns the requirements of a write on an item that has this version; none without one. */
export function atVersion(version: number | undefined): {
  readonly anyOf?: readonly [
    { readonly is: { readonly version: number } } | { readonly absent: readonly ["version"] },
  ];
} {
  if (version === undefined) return {};
  return { anyOf: [version === 0 ? { absent: ["version"] } : { is: { version } }] };
}

/** @throws ApiError CONFLICT when the item has another version than a person saw. Without a version, any is right */
export function requireVersion(seen: number | undefined, version: number): void {
  if (seen === undefined || seen === version) return;
  throw new ApiError("CONFLICT", {
    message: `It has been changed meanwhile. Read it again: it has version ${version} now.`,
    details: [{ path: "version", message: `is ${version} now` }],
  });
}
