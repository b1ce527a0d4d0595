import type { ExpressionKind } from "./token-reader.ts";

/** So many expressions of each parser are kept. Code has a few hundred; what goes beyond is made up as it goes. */
const maxExpressions = 2_000;

/** A parser that parses an expression once, and no more often unless it is crowded out by newer ones. */
export function cachedParser<Tree>(
  parse: (kind: ExpressionKind, text: string) => Tree,
): (kind: ExpressionKind, text: string) => Tree {
  const trees = new Map<string, Tree>();
  return (kind, text) => {
    const key = `${kind} ${text}`;
    const known = trees.get(key);
    if (known !== undefined) return known;
    const tree = parse(kind, text);
    if (trees.size >= maxExpressions) trees.clear();
    trees.set(key, tree);
    return tree;
  };
}
