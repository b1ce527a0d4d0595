import { encodeTime, ulid } from "ulid";

import type { IdPrefix } from "../contract/primitives.ts";
import { now } from "./clock.ts";

/** A new public id, for example `msg_01K4…`; ids of one kind sort by the millisecond of their creation. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${ulid(now().getTime())}`;
}

/** What sorts before every id that is made at a moment or later, and behind those made before it. */
export function firstIdAt(prefix: IdPrefix, moment: Date): string {
  return `${prefix}_${encodeTime(moment.getTime())}`;
}
