import { glob, readFile } from "node:fs/promises";
import path from "node:path";

import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly name: string;
  /** Files of the project that it imports, by the same kind of name. */
  readonly imports: readonly string[];
  readonly packages: readonly string[];
}

const files: SourceFile[] = [];

/** An import of any kind: with names, for its effects, or while the program runs. */
const importPattern = /(?:^(?:import|export)\b[^;]*?\bfrom |^import |\bimport\()"([^"]+)"/gm;

beforeAll(async () => {
  for await (const name of glob("{functions,infra,shared,test}/**/*.{ts,tsx}")) {
    const source = await readFile(name, "utf8");
    const specifiers = [...source.matchAll(importPattern)].map(([, specifier = ""]) => specifier);
    files.push({
      name,
      imports: specifiers
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => path.join(path.dirname(name), specifier)),
      packages: specifiers.filter((specifier) => !/^(\.|node:)/.test(specifier)),
    });
  }
});

/** The imports of files in one place that a rule does not allow, as `importer → imported`. */
function breaches(from: RegExp, isAllowed: (imported: string, importer: string) => boolean): string[] {
  return files
    .filter(({ name }) => from.test(name))
    .flatMap(({ name, imports }) =>
      imports.filter((imported) => !isAllowed(imported, name)).map((imported) => `${name} → ${imported}`),
    );
}

function packageName(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

/** The modules of shared code, from the lowest layer up. A module imports only those below it. */
const modules = [
  "api",
  "platform",
  "notices",
  "tenancy",
  "carriers",
  "money",
  "messages",
  "verifications",
  "audience",
  "webhooks",
  "figures",
  "accounts",
  "pages",
];

function layerOf(name: string): number {
  return modules.indexOf(name.split("/")[1] ?? "");
}

const Manifest = z.object({
  name: z._default(z.string(), ""),
  workspaces: z._default(z.array(z.string()), []),
  exports: z._default(z.record(z.string(), z.string()), {}),
  dependencies: z._default(z.record(z.string(), z.string()), {}),
});

async function readManifest(folder: string): Promise<z.infer<typeof Manifest>> {
  return Manifest.parse(JSON.parse(await readFile(`${folder}/package.json`, "utf8")));
}

const isName = /^shared\/platform\/(config|metrics|queue-names|jobs\/shards|table\/(key-families|keys))\.ts$/;

/** The code outside of its folder, without packages, that each application may import. */
const allowedCode: Readonly<Record<string, readonly RegExp[]>> = {
  "functions/console/app": [
    /^shared\/api\/(client\/client|read-number|openapi\/samples)\.ts$|^shared\/api\/contract\//,
    /^shared\/(messages\/message\/segments|audience\/templates\/render|figures\/exports\/csv)\.ts$/,
  ],
  "infra/build": [/^shared\/api\//, /^shared\/(platform\/html|money\/invoices\/fonts)\.ts$/],
  "infra/local": [/^shared\/api\//, /^shared\/platform\/(log|auth\/totp)\.ts$/],
  "infra/operator": [/^shared\//],
  "infra/stack": [
    /^shared\/api\//,
    isName,
    /^shared\/platform\/(auth\/sealed-text|table\/pending-work-index)\.ts$/,
    /^shared\/money\/(invoices\/characters|payments\/(local-currency|vat-numbers))\.ts$/,
  ],
};

/** The applications of `infra/`, of which each imports those before it. */
const floors = ["build", "stack", "local", "operator"].map((name) => `@sms-gateway/${name}`);

/** The workspaces. The `exports` of each are what others may import. */
const applications = await Promise.all(
  (await readManifest(".")).workspaces.map(async (workspace) => {
    const { name, exports, dependencies } = await readManifest(workspace);
    return {
      name,
      folder: `${workspace}/`,
      entryPoints: Object.keys(exports).map((entryPoint) => entryPoint.replace(".", name)),
      code: allowedCode[workspace] ?? [],
      packages: Object.keys(dependencies),
    };
  }),
);

it("the project has files that the rules check", () => {
  expect(files.length).toBeGreaterThan(80);
  expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(200);
  expect(applications.map(({ folder }) => folder.slice(0, -1))).toEqual(Object.keys(allowedCode));
});

it("the contract imports zod and itself only", () => {
  const isOfContract = (name: string): boolean => name.startsWith("shared/api/contract/");
  expect(breaches(/^shared\/api\/contract\//, isOfContract)).toEqual([]);
  const packages = files.filter(({ name }) => isOfContract(name)).flatMap((file) => file.packages);
  expect(new Set(packages)).toEqual(new Set(["zod/mini"]));
});

it("the route table and the client import the contract only, so a customer can copy them", () => {
  const taken = /^shared\/api\/(client|contract|routes)(\/|\.ts$)/;
  expect(breaches(taken, (imported) => taken.test(imported))).toEqual([]);
});

it("a module of shared code imports only the modules below it", () => {
  const outside = files.filter(({ name }) => name.startsWith("shared/") && layerOf(name) < 0);
  expect(outside.map(({ name }) => name)).toEqual(["shared/entities.ts"]);
  const isBelow = (imported: string, importer: string): boolean => layerOf(imported) <= layerOf(importer);
  expect(breaches(/^shared\/\w+\//, isBelow)).toEqual([]);
  expect(breaches(/^/, (imported) => imported !== "shared/entities.ts")).toEqual([]);
});

it("only one file knows that an organization has shards", async () => {
  const knowing: string[] = [];
  for (const { name } of files.filter((file) => /^(functions|infra|shared)\//.test(file.name))) {
    const source = await readFile(name, "utf8");
    if (/\bledgerParts\b|`(LEDGER|MARGINS|MESSAGES)#|\bfromSeq\b/.test(source)) knowing.push(name);
  }
  expect(knowing).toEqual(["shared/platform/table/shards.ts"]);
});

it("shared code imports neither functions nor infrastructure", () => {
  expect(breaches(/^shared\//, (imported) => imported.startsWith("shared/"))).toEqual([]);
});

it("shared code loads no HTTP client of Node until it calls something, because that costs 40 ms of each cold start", async () => {
  const loading: string[] = [];
  for await (const file of glob("{shared,functions}/**/*.ts")) {
    if (file.includes("/app/")) continue;
    const source = await readFile(file, "utf8");
    if (/^import (?!type ).*"node:(http|https|http2)";$/m.test(source)) loading.push(file);
  }
  expect(loading).toEqual([]);
});

it("functions import shared code, never each other", () => {
  expect(
    breaches(/^functions\/(?!(console|docs)\/app\/)/, (imported) => imported.startsWith("shared/")),
  ).toEqual([]);
});

it("a handler imports the routes of its own tag, so that its bundle has no others", () => {
  const isOfTag = (imported: string, importer: string): boolean => {
    const [, tag = ""] = importer.split("/");
    const names = tag === "auth" ? ["auth", "api-keys", "credentials"] : [tag];
    return (
      !imported.startsWith("shared/api/routes") ||
      names.some((name) => imported === `shared/api/routes/${name}.ts`)
    );
  };
  expect(breaches(/^functions\/(?!fallback\/)/, isOfTag)).toEqual([]);
});

describe.each(applications)("the application $name", ({ name, folder, entryPoints, code, packages }) => {
  const isInside = (file: string): boolean => file.startsWith(folder);
  const importsOf = (isChosen: (file: string) => boolean): string[] =>
    files.filter((file) => isChosen(file.name)).flatMap((file) => file.packages);

  it("imports by path only its own files and the code that its row allows", () => {
    const isAllowed = (file: string): boolean => isInside(file) || code.some((each) => each.test(file));
    expect(breaches(new RegExp(`^${folder}`), isAllowed)).toEqual([]);
    const imported = files.filter((file) => isInside(file.name)).flatMap((file) => file.imports);
    expect(code.filter((each) => !imported.some((file) => each.test(file)))).toEqual([]);
  });

  it("is imported by other programs as a package only, and exports nothing else", () => {
    expect(breaches(new RegExp(`^(?!test/|${folder})`), (file) => !isInside(file))).toEqual([]);
    const imported = importsOf((file) => !isInside(file)).filter((file) => file.startsWith(`${name}/`));
    expect([...new Set(imported)].toSorted()).toEqual(entryPoints);
  });

  it("imports no application of infra/ that is above it", () => {
    const floor = floors.indexOf(name);
    const above = importsOf(isInside).filter((file) => floors.indexOf(packageName(file)) > floor);
    expect(floor < 0 ? [] : above).toEqual([]);
  });

  it("lists the packages that it imports and that no code outside of applications imports", () => {
    const isOfOthers = (file: string): boolean =>
      !file.startsWith("test/") && !applications.some((each) => file.startsWith(each.folder));
    const packagesOf = (isChosen: (name: string) => boolean): Set<string> =>
      new Set(importsOf(isChosen).map(packageName));
    const ofOthers = packagesOf(isOfOthers);
    const exclusive = [...packagesOf(isInside)].filter(
      (each) => !ofOthers.has(each) && !each.startsWith("@sms-gateway/"),
    );
    expect(packages).toEqual(exclusive.toSorted());
  });
});

it("applications and the project use the same version of each package", async () => {
  const lock = z
    .object({ packages: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(await readFile("package-lock.json", "utf8")));
  const separate = Object.keys(lock.packages).filter((name) =>
    /^(functions|infra)\/.*node_modules/.test(name),
  );
  expect(separate).toEqual([]);
});

it("only tests import tests", () => {
  expect(breaches(/^(functions|infra|shared)\//, (imported) => !imported.startsWith("test/"))).toEqual([]);
});

it("the tests of the endpoints run on any stage: they start no gateway, and inject no faults", () => {
  const isOfLaptop =
    /^infra\/(stack\/gateway-stack|local\/(?!loopback|webhook-receiver))|^test\/support\/(faults|functions|idle-senders|own-|queues)/;
  expect(breaches(/^test\/endpoints\//, (imported) => !isOfLaptop.test(imported))).toEqual([]);
});

it("the folders of shared code depend on each other without a cycle", () => {
  const dependencies = new Map<string, Set<string>>();
  for (const { name, imports } of files.filter((file) => file.name.startsWith("shared/"))) {
    const folder = path.dirname(name);
    const known = dependencies.get(folder) ?? new Set();
    for (const imported of imports) known.add(path.dirname(imported));
    known.delete(folder);
    dependencies.set(folder, known);
  }
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (folder: string, trail: readonly string[]): void => {
    if (trail.includes(folder)) cycles.push([...trail.slice(trail.indexOf(folder)), folder].join(" → "));
    else if (!done.has(folder)) {
      for (const next of dependencies.get(folder) ?? []) walk(next, [...trail, folder]);
      done.add(folder);
    }
  };
  for (const folder of dependencies.keys()) walk(folder, []);
  expect(cycles).toEqual([]);
});

it("no folder is called utils, helpers or types, and no file only passes on what others export", async () => {
  expect(files.filter(({ name }) => /\/(utils?|helpers?|types|common|misc)(\/|\.ts$)/.test(name))).toEqual(
    [],
  );
  expect(files.filter(({ name }) => name.endsWith("/index.ts"))).toEqual([]);
});
