import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import type { EntityName, StoredOf } from "./entities.ts";
import type { Changes, Requirements, UntypedChanges, UntypedRequirements } from "./expressions.ts";
import type { Key } from "./keys.ts";
import type { Unchecked, Update } from "./write.ts";

/*
 * A lease on an item: its holder works on the item, and no other worker does until the holder releases the lease. A holder
 * that dies releases nothing, so a lease lapses: it is held before `leaseUntil`, and free from that moment on.
 *
 * The token fences a holder whose lease has lapsed. Each of its writes requires the token, so none of them is applied once
 * another worker has acquired the lease. Until then they are: what the holder did is worth recording, however late.
 *
 * A lease can also be deferred. Then `leaseUntil` stands without a token: no one holds the item, and no one can acquire
 * its lease before that moment.
 */

/** The fields of an item that can be leased. */
export const leaseFields = { leaseToken: z.optional(z.string()), leaseUntil: z.optional(z.string()) };

/** The fields that an update removes in order to release a lease. */
export const leaseFieldNames = ["leaseToken", "leaseUntil"] as const;

/** A lease, as its holder writes it into the item. */
export interface Lease {
  readonly leaseToken: string;
  /** When it lapses, in ISO 8601. */
  readonly leaseUntil: string;
}

/** An item that can be leased. */
type Leasable = { readonly [Field in keyof Lease]?: Lease[Field] | undefined };

/** A new lease, which `acquireLease` writes. */
export function newLease(at: Date, durationMs: number): Lease {
  return { leaseToken: randomUUID(), leaseUntil: later(at, durationMs) };
}

/** A lease with a new duration, which `renewLease` writes. */
export function renewedLease({ leaseToken = "" }: Leasable, at: Date, durationMs: number): Lease {
  return { leaseToken, leaseUntil: later(at, durationMs) };
}

function later(at: Date, durationMs: number): string {
  return new Date(at.getTime() + durationMs).toISOString();
}

/** Whether a lease can be acquired: it was released, or it has lapsed. */
export function isFree({ leaseUntil }: Leasable, at: Date): boolean {
  return leaseUntil === undefined || leaseUntil <= at.toISOString();
}

/** The kinds of items that can be leased. */
export type LeasableName = {
  [Name in EntityName]: "leaseUntil" extends keyof StoredOf<Name> ? Name : never;
}[EntityName];

/** Requires that an item's lease can be acquired, in addition to other requirements. */
export function whileFree<Name extends LeasableName>(
  at: Date,
  others?: Requirements<Name>,
): Requirements<Name>;
export function whileFree(at: Date, others?: UntypedRequirements): UntypedRequirements {
  return ifFree(at, others);
}

function ifFree(at: Date, others: UntypedRequirements = {}): UntypedRequirements {
  const { ifPresent } = others;
  const atMost = { ...ifPresent?.atMost, leaseUntil: at.toISOString() };
  return { ...others, ifPresent: { ...ifPresent, atMost } };
}

/** Requires that this holder has the lease of an item, in addition to other requirements. */
export function whileLeasedBy<Name extends LeasableName>(
  leased: Leasable,
  others?: Requirements<Name>,
): Requirements<Name>;
export function whileLeasedBy(leased: Leasable, others?: UntypedRequirements): UntypedRequirements {
  return ifLeasedBy(leased, others);
}

function ifLeasedBy({ leaseToken }: Leasable, others: UntypedRequirements = {}): UntypedRequirements {
  return { ...others, is: { ...others.is, leaseToken } };
}

/**
 * Recognizes an item that has exactly this lease. A repeated `acquireLease` or `renewLease` learns from it that the first
 * attempt was applied, although the response was lost.
 */
export function hasLease({ leaseToken, leaseUntil }: Lease): (found: Leasable) => boolean {
  return (found) => found.leaseToken === leaseToken && found.leaseUntil === leaseUntil;
}

/** The changes of a transition in addition to the lease, and its requirements. */
interface Transition<Name extends EntityName> extends Changes<Name> {
  readonly requires?: Requirements<Name>;
}
interface UntypedTransition extends UntypedChanges {
  readonly requires?: UntypedRequirements;
}

/** free → leased. */
export function acquireLease<Name extends LeasableName>(
  key: Key<Name>,
  lease: Lease,
  at: Date,
  transition?: Transition<Name>,
): Update<Name>;
export function acquireLease(
  key: Key,
  lease: Lease,
  at: Date,
  { requires, ...changes }: UntypedTransition = {},
): Unchecked<Update> {
  return { key, changes: { ...changes, set: { ...changes.set, ...lease } }, requires: ifFree(at, requires) };
}

/** leased → leased until later. A lease that has lapsed cannot be renewed. @param lease what `renewedLease` returned */
export function renewLease<Name extends LeasableName>(
  key: Key<Name>,
  lease: Lease,
  at: Date,
  transition?: Pick<Changes<Name>, "set"> & Pick<Requirements<Name>, "is">,
): Update<Name>;
export function renewLease(
  key: Key,
  lease: Lease,
  at: Date,
  { set, is = {} }: Pick<UntypedChanges, "set"> & Pick<UntypedRequirements, "is"> = {},
): Unchecked<Update> {
  return {
    key,
    changes: { set: { ...set, leaseUntil: lease.leaseUntil } },
    requires: ifLeasedBy(lease, { is, above: { leaseUntil: at.toISOString() } }),
  };
}

/** leased → free, even when the lease has lapsed, unless another worker has acquired it. @param until defers it until then */
export function releaseLease<Name extends LeasableName>(
  key: Key<Name>,
  leased: Leasable,
  transition?: Transition<Name> & { readonly until?: Date | undefined },
): Update<Name>;
export function releaseLease(
  key: Key,
  leased: Leasable,
  { requires, until, ...changes }: UntypedTransition & { readonly until?: Date | undefined } = {},
): Unchecked<Update> {
  const remove = [...(changes.remove ?? []), ...(until === undefined ? leaseFieldNames : ["leaseToken"])];
  const set = { ...changes.set, leaseUntil: until?.toISOString() };
  return { key, changes: { ...changes, set, remove }, requires: ifLeasedBy(leased, requires) };
}
