import { access, glob, readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import { routes } from "../../shared/routes.ts";
import type { Route } from "../../shared/routes/route.ts";

const rows = Object.entries<Route>(routes);

function handlerFile(operation: string, route: Route): string {
  const name = operation.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `functions/${route.tag}/${name}.ts`;
}

it.each(rows)("%s has its handler where the table says", async (operation, route) => {
  await expect(access(handlerFile(operation, route))).resolves.toBeUndefined();
  expect(await readFile(handlerFile(operation, route), "utf8")).toMatch(
    new RegExp(`= ${route.auth === "none" ? "publicEndpoint" : "endpoint"}\\(routes\\.${operation},`),
  );
});

it("every handler belongs to a row, but for the fallback, the firewall and the workers", async () => {
  const expected = new Set(rows.map(([operation, route]) => handlerFile(operation, route)));
  const surplus: string[] = [];
  for await (const file of glob("functions/*/*.ts")) {
    if (!expected.has(file) && !/^functions\/(fallback|firewall|workers)\//.test(file)) surplus.push(file);
  }
  expect(surplus).toEqual([]);
});

it("no two rows answer the same method and path", () => {
  const places = rows.map(([, { method, path }]) => `${method} ${path}`);
  expect(new Set(places).size).toBe(places.length);
});

it("all but health, registration, login and the documentation need a credential", () => {
  const open = rows.filter(([, { auth }]) => auth === "none").map(([operation]) => operation);
  expect(open).toEqual(["getHealth", "register", "login", "getRoot", "getOpenApi", "getDocs", "getDocsFile"]);
});
