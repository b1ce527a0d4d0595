import { attribute, setAttribute, type AttributeValue, type Item } from "../attribute-values.ts";
import { validationError } from "../service-error.ts";
import type { Path } from "./token-reader.ts";

/** The attributes of an item or a map, or the elements of a list, as a copy that may be changed. */
type Container = AttributeValue[] | Record<string, AttributeValue>;

/**
 * Returns a copy of an item with other values at some paths. Maps and lists away from these paths are not copied.
 * @param paths do not overlap; positions are those of the lists before all changes
 * @param values the new value at each path; undefined removes the present one
 * @throws ServiceError for a path through a missing value, or through a value of another type
 */
export function changedItem(
  item: Item,
  paths: readonly Path[],
  values: readonly (AttributeValue | undefined)[],
): Item {
  const changed = { ...item };
  const copies = new Map<AttributeValue, Container>();
  for (const [index, path] of paths.entries()) {
    let container: Container = changed;
    for (const part of path.slice(0, -1)) container = copiedChild(container, part, copies);
    setChild(container, path.at(-1) ?? path[0], values[index]);
  }
  for (const list of copies.values()) if (Array.isArray(list)) closeGaps(list);
  return changed;
}

/** Returns the map or list inside a container, which it replaces by a copy the first time. */
function copiedChild(
  container: Container,
  part: number | string,
  copies: Map<AttributeValue, Container>,
): Container {
  const value = Array.isArray(container) ? container[Number(part)] : attribute(container, String(part));
  const known = value && copies.get(value);
  if (known !== undefined) return known;
  if (value === undefined || !("M" in value || "L" in value)) throw invalidPath();
  const copy = "M" in value ? { M: { ...value.M } } : { L: [...value.L] };
  const child = "M" in copy ? copy.M : copy.L;
  setChild(container, part, copy);
  copies.set(copy, child);
  return child;
}

function setChild(container: Container, part: number | string, value: AttributeValue | undefined): void {
  if (Array.isArray(container) !== (typeof part === "number")) throw invalidPath();
  if (value === undefined) Reflect.deleteProperty(container, part);
  else if (Array.isArray(container)) container[Number(part)] = value;
  else setAttribute(container, String(part), value);
}

/** Moves elements together: a removed one has left a gap, and one after the end may stand at any position. */
function closeGaps(list: AttributeValue[]): void {
  const elements = Object.values(list);
  list.length = 0;
  list.push(...elements);
}

function invalidPath(): Error {
  return validationError("The document path provided in the update expression is invalid for update");
}
