/** The content of a form or a query before its lists are recognized. */
interface Tree {
  [name: string]: Tree | string;
}

/** Reads `a[b][0]=c` as `{ a: { b: ["c"] } }`. An empty pair of brackets adds to a list. */
export function readForm(text: string): Record<string, unknown> {
  const root = emptyTree();
  for (const [name, value] of new URLSearchParams(text)) {
    const names = [...name.matchAll(/[^[\]]+|(?<=\[)(?=\])/g)].map(([part]) => part);
    const last = names.pop() ?? "";
    let tree = root;
    for (const part of names) {
      const next = tree[part];
      tree = typeof next === "object" ? next : (tree[part] = emptyTree());
    }
    tree[last === "" ? Object.keys(tree).length : last] = value;
  }
  return Object.fromEntries(Object.entries(root).map(([name, value]) => [name, withLists(value)]));
}

function withLists(value: Tree | string): unknown {
  if (typeof value === "string") return value;
  const names = Object.keys(value);
  if (names.every((name) => /^\d+$/.test(name))) return Object.values(value).map(withLists);
  return Object.fromEntries(names.map((name) => [name, withLists(value[name] ?? "")]));
}

/** An object without the properties that all others inherit. */
function emptyTree(): Tree {
  return Object.assign(Object.create(null));
}
