import { attribute, setAttribute, type AttributeValue, type Item } from "../attribute-values.ts";
import { checkOverlaps } from "./overlaps.ts";
import { cachedParser } from "./parser-cache.ts";
import { parsed, resolvedPath, type Parsed, type Placeholders } from "./placeholders.ts";
import { TokenReader, type ExpressionKind, type Path } from "./token-reader.ts";

/** Parses a projection expression. @throws ServiceError for an invalid one */
export const parseProjection = cachedParser((kind: ExpressionKind, text: string): Parsed<readonly Path[]> => {
  const reader = new TokenReader(kind, text);
  const paths = [reader.path()];
  while (reader.take(",")) paths.push(reader.path());
  return parsed(reader, paths);
});

/**
 * Returns the paths of a projection, with resolved placeholders.
 * @throws ServiceError for overlapping paths
 */
export function projectedPaths(
  { tree }: Parsed<readonly Path[]>,
  placeholders: Placeholders,
): readonly Path[] {
  const paths = tree.map((path) => resolvedPath(path, placeholders));
  checkOverlaps("ProjectionExpression", paths);
  return paths;
}

/** The selected part of a value: all of it, or selections of its attributes or elements. */
type Selection = Map<number | string, Selection> | "all";

/**
 * Returns the parts of an item at some paths. A list has only the selected elements.
 * @param paths with resolved placeholders; they do not overlap
 */
export function project(item: Item, paths: readonly Path[]): Item {
  return selectedItem(item, selectionOf(paths));
}

function selectionOf(paths: readonly Path[]): Map<number | string, Selection> {
  const root = new Map<number | string, Selection>();
  for (const path of paths) {
    let parts = root;
    for (const part of path.slice(0, -1)) {
      const next = parts.get(part);
      const below = next === undefined || next === "all" ? new Map<number | string, Selection>() : next;
      parts.set(part, below);
      parts = below;
    }
    parts.set(path.at(-1) ?? path[0], "all");
  }
  return root;
}

function selectedItem(item: Item, selection: Map<number | string, Selection>): Item {
  const selected: Record<string, AttributeValue> = {};
  for (const [part, below] of selection) {
    const value = typeof part === "string" ? attribute(item, part) : undefined;
    const found = value === undefined ? undefined : selectedValue(value, below);
    if (found !== undefined) setAttribute(selected, String(part), found);
  }
  return selected;
}

function selectedValue(value: AttributeValue, selection: Selection): AttributeValue | undefined {
  if (selection === "all") return value;
  if ("M" in value) {
    const map = selectedItem(value.M, selection);
    return Object.keys(map).length === 0 ? undefined : { M: map };
  }
  if (!("L" in value)) return undefined;
  const list = value.L.flatMap((each, index) => {
    const below = selection.get(index);
    return below === undefined ? [] : (selectedValue(each, below) ?? []);
  });
  return list.length === 0 ? undefined : { L: list };
}
