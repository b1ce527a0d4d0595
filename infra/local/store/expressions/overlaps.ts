import { validationError } from "../service-error.ts";
import { pathText } from "./placeholders.ts";
import type { ExpressionKind, Path } from "./token-reader.ts";

/**
 * Rejects paths that overlap or conflict.
 * @param paths with resolved placeholders
 * @throws ServiceError
 */
export function checkOverlaps(kind: ExpressionKind, paths: readonly Path[]): void {
  const byName = new Map<string, Path[]>();
  for (const path of paths) {
    const others = byName.get(path[0]);
    if (others === undefined) {
      byName.set(path[0], [path]);
      continue;
    }
    for (const other of others) {
      const conflict = conflictOf(other, path);
      if (conflict === undefined) continue;
      throw validationError(
        `Invalid ${kind}: Two document paths ${conflict} with each other; must remove or rewrite one of these paths; ` +
          `path one: ${pathText(other)}, path two: ${pathText(path)}`,
      );
    }
    others.push(path);
  }
}

/** Paths overlap if one leads into the other. They conflict if they use one value both as a list and as a map. */
function conflictOf(one: Path, other: Path): "conflict" | "overlap" | undefined {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const [left, right] = [one[index], other[index]];
    if (typeof left !== typeof right) return "conflict";
    if (left !== right) return undefined;
  }
  return "overlap";
}
