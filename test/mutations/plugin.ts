import type { Plugin } from "vite";

import { mutations } from "./guards.ts";

/** Breaks the guard that the variable `MUTATION` names, as its file is loaded. */
export function mutation(): Plugin[] {
  const broken = mutations.find(({ name }) => name === process.env["MUTATION"]);
  if (broken === undefined) return [];
  return [
    {
      name: "mutation",
      enforce: "pre",
      transform: (code, id) =>
        id.endsWith(`/${broken.file}`) ? code.replace(broken.from, () => broken.to) : undefined,
    },
  ];
}
