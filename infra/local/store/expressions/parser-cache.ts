import type { ExpressionKind } from "./token-reader.ts";

/** The size of each parser's cache. Our code has a few hundred different expressions. */
const maxExpressions = 2_000;

/** Returns a parser with a cache, which is cleared when it is full. */
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
