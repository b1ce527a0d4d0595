import { setAttribute, type AttributeValue, type Item } from "../attribute-values.ts";
import { validationError } from "../service-error.ts";
import type { Path } from "./token-reader.ts";

/** A list of a draft. Positions are those of the list before all changes, which hold until the draft is finished. */
interface DraftList {
  readonly type: "list";
  readonly values: (AttributeValue | DraftNode | undefined)[];
  /** Elements set after the end of the list, by their requested positions. */
  readonly appended: Map<number, AttributeValue>;
}

interface DraftMap {
  readonly type: "map";
  readonly values: Map<string, AttributeValue | DraftNode>;
}

type DraftNode = DraftList | DraftMap;

/** A copy of an item that is being changed. Only the values on the path to a change are copied. */
export class Draft {
  readonly #item: Record<string, AttributeValue>;
  /** The attributes that are changed from the inside. */
  readonly #nodes = new Map<string, DraftNode>();

  constructor(item: Item) {
    this.#item = { ...item };
  }

  /** Sets the value at a path. A position after the end of a list appends to it. */
  set([name, ...rest]: Path, value: AttributeValue): void {
    const last = rest.pop();
    if (last === undefined) {
      setAttribute(this.#item, name, value);
      return;
    }
    const parent = this.#node(name, rest);
    if (parent.type === "map" && typeof last === "string") parent.values.set(last, value);
    else if (parent.type === "list" && typeof last === "number") {
      if (last < parent.values.length) parent.values[last] = value;
      else parent.appended.set(last, value);
    } else throw invalidPath();
  }

  /** Removes what is at a path, where there is something. */
  remove([name, ...rest]: Path): void {
    const last = rest.pop();
    if (last === undefined) {
      delete this.#item[name];
      return;
    }
    const parent = this.#node(name, rest);
    if (parent.type === "map" && typeof last === "string") parent.values.delete(last);
    else if (parent.type === "list" && typeof last === "number") {
      if (last < parent.values.length) parent.values[last] = undefined;
    } else throw invalidPath();
  }

  finish(): Item {
    for (const [name, node] of this.#nodes) setAttribute(this.#item, name, finished(node));
    return this.#item;
  }

  /** What a path leads to, which has to be a map or a list. */
  #node(name: string, rest: readonly (number | string)[]): DraftNode {
    let node = this.#nodes.get(name);
    if (node === undefined) {
      node = nodeOf(Object.hasOwn(this.#item, name) ? this.#item[name] : undefined);
      this.#nodes.set(name, node);
    }
    for (const part of rest) node = child(node, part);
    return node;
  }
}

function child(parent: DraftNode, part: number | string): DraftNode {
  if (parent.type === "map" && typeof part === "string") {
    const node = nodeOf(parent.values.get(part));
    parent.values.set(part, node);
    return node;
  }
  if (parent.type === "list" && typeof part === "number" && part < parent.values.length) {
    const node = nodeOf(parent.values[part]);
    parent.values[part] = node;
    return node;
  }
  throw invalidPath();
}

function nodeOf(value: AttributeValue | DraftNode | undefined): DraftNode {
  if (value === undefined) throw invalidPath();
  if ("type" in value) return value;
  if ("M" in value) return { type: "map", values: new Map(Object.entries(value.M)) };
  if ("L" in value) return { type: "list", values: [...value.L], appended: new Map() };
  throw invalidPath();
}

function finished(value: AttributeValue | DraftNode): AttributeValue {
  if (!("type" in value)) return value;
  if (value.type === "list") {
    const kept = value.values.filter((each) => each !== undefined).map(finished);
    const appended = [...value.appended].toSorted(([one], [other]) => one - other);
    return { L: [...kept, ...appended.map(([, each]) => each)] };
  }
  const map: Record<string, AttributeValue> = {};
  for (const [name, each] of value.values) setAttribute(map, name, finished(each));
  return { M: map };
}

function invalidPath(): Error {
  return validationError("The document path provided in the update expression is invalid for update");
}
