import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { projectRoot } from "../../infra/build/project-root.ts";
import { kebabCase } from "../../infra/stack/constructs/names.ts";
import { operations } from "../../shared/api/routes.ts";
import { fontFiles } from "../../shared/money/invoices/fonts.ts";
import { invoice } from "../support/invoices.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * Copies of the sources, in which a test may change a line, bundled as in any other folder. They are below the
 * project, so that they find its packages.
 */

/** Each function with the hash of its bundle, and of all files next to it. */
type Bundles = ReadonlyMap<string, string>;

let folder: string;
let unchanged: Bundles;
beforeAll(async () => {
  await mkdir(path.join(projectRoot, ".build"), { recursive: true });
  folder = await mkdtemp(path.join(projectRoot, ".build/copies-"));
  const copy = await copyOfSources("unchanged");
  await mkdir(path.join(copy, ".build/stamps"), { recursive: true });
  // No process has this id.
  await writeFile(path.join(copy, ".build/stamps/functions.lock"), String(2 ** 30));
  await Promise.all([bundleCopy(copy), bundleCopy(copy), bundleCopy(copy)]);
  unchanged = await bundlesIn(copy);
});
afterAll(async () => rm(folder, { recursive: true }));

async function runInCopy(copy: string, script: string): Promise<void> {
  await promisify(execFile)(process.execPath, ["--eval", script], { cwd: copy });
}

async function bundleCopy(copy: string): Promise<void> {
  await runInCopy(copy, 'import("./infra/build/bundle.ts").then(({ bundleFunctions }) => bundleFunctions())');
}

/** Copies the sources of bundles, and returns the folder of the copy. */
async function copyOfSources(name: string): Promise<string> {
  const copy = path.join(folder, name);
  const files = ["package.json", "tsconfig.json", "README.md", "CHANGELOG.md", "LICENSE"];
  for (const part of ["functions", "infra", "shared", ...files]) {
    await cp(path.join(projectRoot, part), path.join(copy, part), { recursive: true });
  }
  return copy;
}

/** Returns the bundles of a copy with changed files. */
async function bundlesOfCopy(
  name: string,
  changes: Readonly<Record<string, (source: string) => string>> = {},
): Promise<Bundles> {
  const copy = await copyOfSources(name);
  for (const [file, change] of Object.entries(changes)) {
    const source = await readFile(path.join(copy, file), "utf8");
    await writeFile(path.join(copy, file), change(source));
  }
  await bundleCopy(copy);
  return bundlesIn(copy);
}

/** Returns the bundles of a copy. */
async function bundlesIn(copy: string): Promise<Bundles> {
  const bundles = new Map<string, string>();
  const cwd = path.join(copy, ".build/functions");
  const files: string[] = [];
  for await (const bundle of glob("*/*/*.*", { cwd })) files.push(bundle);
  for (const each of files.toSorted()) {
    const content = await readFile(path.join(cwd, each));
    expect(content.includes(folder), `${each} names the folder that it was made in`).toBe(false);
    const functionName = path.dirname(each).replaceAll(path.sep, "/");
    const hash = createHash("sha256").update(bundles.get(functionName) ?? "");
    bundles.set(functionName, hash.update(path.basename(each)).update(content).digest("hex"));
  }
  expect(bundles.size).toBeGreaterThan(operations().length);
  return bundles;
}

/** Returns the functions whose bundles differ from those without the change. */
function changedFunctions(bundles: Bundles): string[] {
  expect([...bundles.keys()].toSorted()).toEqual([...unchanged.keys()].toSorted());
  return [...bundles.keys()].filter((name) => unchanged.get(name) !== bundles.get(name)).toSorted();
}

it("several processes may request bundles at the same time, also after one was killed while it made them", async () => {
  expect(await readdir(path.join(folder, "unchanged/.build/stamps"))).toEqual(["functions"]);
});

it("bundles again only when a source has changed or the last build did not end", async () => {
  const copy = path.join(folder, "unchanged");
  const bundleFile = path.join(copy, ".build/functions/wallet/get-wallet/index.mjs");
  const original = await readFile(bundleFile, "utf8");
  // The same decision as that of `bundleFunctions`, with a build that takes no time.
  const build = `async () => require("node:fs").writeFileSync(${JSON.stringify(bundleFile)}, "built")`;
  const script = `import("./infra/build/build-once.ts").then(({ buildOnce }) => buildOnce("functions", "", ${build}))`;
  const bundledAgain = async (): Promise<boolean> => {
    await writeFile(bundleFile, "kept");
    await runInCopy(copy, script);
    return (await readFile(bundleFile, "utf8")) === "built";
  };
  expect(await bundledAgain()).toBe(false);
  const source = path.join(copy, "shared/platform/clock.ts");
  const text = await readFile(source, "utf8");
  await writeFile(source, `${text}// changed\n`);
  expect(await bundledAgain()).toBe(true);
  await writeFile(source, text);
  expect(await bundledAgain()).toBe(true);
  await rm(path.join(copy, ".build/stamps/functions"));
  expect(await bundledAgain()).toBe(true);
  await writeFile(bundleFile, "kept");
  await bundleCopy(copy);
  expect(await readFile(bundleFile, "utf8")).toBe("kept");
  await writeFile(bundleFile, original);
});

it("includes only the row of its own operation in a function", async () => {
  for (const [operation, { tag, summary }] of operations()) {
    const bundle = `${tag}/${kebabCase(operation)}/index.mjs`;
    const content = await readFile(path.join(folder, "unchanged/.build/functions", bundle), "utf8");
    const summaries = [...content.matchAll(/\bsummary:"([^"]*)"/g)].map(([, found]) => found);
    expect(summaries, bundle).toEqual([summary]);
  }
});

/** Changes of the row of `GET /v1/sms/{id}`. The last one runs each time, the others at night. */
const changesOfRow = [
  // These rare letters change all short names where the text affects them.
  {
    column: "summary",
    value: "Get a message",
    changed: "One jazzy message ".repeat(1_000),
    users: ["mcp/call-mcp", "sms/get-sms"],
  },
  {
    column: "errors",
    value: "data: Message,",
    changed: 'data: Message,\n  errors: ["WALLET_MISSING"],',
    users: ["sms/get-sms"],
  },
  // Only the document needs the schema of an operation's response.
  { column: "schema", value: "data: Message", changed: "data: Transaction", users: [] },
];

it.each(isNightly ? changesOfRow : changesOfRow.slice(-1))(
  "a changed $column of one row changes only the document, its pages, the console, the fallback and the functions that use it",
  async ({ column, value, changed, users }) => {
    const bundles = await bundlesOfCopy(column, {
      "shared/api/routes/sms.ts": (source) => {
        const row = /(?<=export const getSms = ).*?^}/ms;
        const withRow = source.replace(row, (text) => text.replace(value, changed));
        return `import { Transaction } from "../contract/wallet.ts";\n${withRow}`;
      },
    });
    // The others include the whole table; the page of the console names the files, whose names change with them.
    expect(changedFunctions(bundles)).toEqual([
      "console/get-console",
      "console/get-console-file",
      // The start page and the list of pages have the titles of all pages.
      ...(column === "summary" ? ["docs/get-docs"] : []),
      "docs/get-docs-page",
      ...(column === "summary" ? ["docs/get-llms"] : []),
      "docs/get-open-api",
      "docs/get-open-api-yaml",
      "fallback/not-found",
      ...users,
    ]);
  },
);

describe("two handlers with more lines", () => {
  let bundles: Bundles;
  beforeAll(async () => {
    bundles = await bundlesOfCopy("lines", {
      "functions/wallet/get-wallet.ts": (source) =>
        `import { deleteItem } from "../../shared/platform/table/write.ts";\n${source}\nawait deleteItem({ pk: "a", sk: "b" });\n`,
      "functions/health/get-health.ts": (source) =>
        `${source}export { renderPdf } from "../../shared/money/invoices/pdf.ts";\n`,
    });
  });

  it("change only their own functions, also in another folder, and when they use more shared code", () => {
    expect(changedFunctions(bundles)).toEqual(["health/get-health", "wallet/get-wallet"]);
  });

  it("have the fonts of invoices in a layer, where Lambda finds them", async () => {
    const cwd = path.join(folder, "lines/.build");
    const layer = "fonts/nodejs/node_modules";
    const found: string[] = [];
    for await (const file of glob("**/*.ttf", { cwd })) found.push(file);
    expect(found.toSorted()).toEqual(fontFiles.map((font) => path.join(layer, font)).toSorted());
    // In the child, as the runner would compile the bundle.
    const script = `
      const { renderPdf } = await import("./index.mjs");
      const file = await renderPdf(${JSON.stringify(invoice({ buyer: { name: "株式会社" } }))});
      process.stdout.write(Buffer.from(file).toString("latin1").match(/NotoSans\\w+/)?.[0] ?? "");`;
    // The runtime of Lambda sets this variable.
    const env = { NODE_PATH: path.join(cwd, layer) };
    const options = { cwd: path.join(cwd, "functions/health/get-health"), env };
    const { stdout } = await promisify(execFile)(process.execPath, ["--eval", script], options);
    expect(stdout).toBe("NotoSansSC");
  });
});

it("includes no client, command or schema of the SDK", async () => {
  const marks = {
    "retry strategy": "No retry token available",
    signer: "AWS4-HMAC-SHA256-PAYLOAD",
    "request handler": "@smithy/node-http-handler",
    "endpoint rules": "aws.partition",
    "credential chain": "AWS_SHARED_CREDENTIALS_FILE",
    protocol: "RPC Protocol error handler",
    "event streams": "event-streams",
    schemas: "com.amazonaws.",
  };
  for (const name of unchanged.keys()) {
    const cwd = path.join(folder, "unchanged/.build/functions", name);
    for await (const file of glob("*.mjs", { cwd })) {
      const content = await readFile(path.join(cwd, file), "utf8");
      const found = Object.entries(marks).filter(([, mark]) => content.includes(mark));
      expect(
        found.map(([what]) => what),
        `${name}/${file}`,
      ).toEqual([]);
    }
  }
});

it.each([
  {
    functionName: "workers/send-message",
    file: "shared__platform__aws__read-secret.mjs",
    mark: 'id:"SECRETS_MANAGER"',
  },
  {
    functionName: "workers/send-message",
    file: "shared__carriers__aws-call.mjs",
    mark: 'id:"PINPOINT_SMS_VOICE_V2"',
  },
  {
    functionName: "sms/send-sms",
    file: "shared__platform__auth__key-service.mjs",
    mark: 'id:"KMS"',
  },
  { functionName: "sms/send-sms", file: "shared__platform__auth__verify-jwt.mjs", mark: "ERR_JWT_EXPIRED" },
  { functionName: "mcp/call-mcp", file: "shared__pages__mcp__server.mjs", mark: "Mcp-Session-Id" },
])("$functionName carries $file beside it, for when it is needed", async ({ functionName, file, mark }) => {
  const cwd = path.join(folder, "unchanged/.build/functions", functionName);
  const index = await readFile(path.join(cwd, "index.mjs"), "utf8");
  expect(index.includes(mark)).toBe(false);
  expect(index.includes(`import("./${file}")`)).toBe(true);
  expect((await readFile(path.join(cwd, file), "utf8")).includes(mark)).toBe(true);
});

it.each([
  { functionName: "workers/send-message", calls: true, readers: false },
  { functionName: "carriers/post-carrier-callback", calls: false, readers: true },
  { functionName: "sms/send-sms", calls: false, readers: false },
])("$functionName has the record of carriers that it needs", async ({ functionName, ...expected }) => {
  const bundle = path.join(folder, "unchanged/.build/functions", functionName, "index.mjs");
  const content = await readFile(bundle, "utf8");
  const calls = content.includes("the carrier gave no complete response");
  expect({ calls, readers: content.includes("windows-1252") }).toEqual(expected);
});

it.each([
  { functionName: "sms/send-sms", maxBytes: 238_500 },
  { functionName: "health/get-health", maxBytes: 40_000 },
])("$functionName loads at most $maxBytes bytes", async ({ functionName, maxBytes }) => {
  const bundle = path.join(folder, "unchanged/.build/functions", functionName, "index.mjs");
  expect((await stat(bundle)).size).toBeLessThanOrEqual(maxBytes);
});

it("omits the validator of JSON schemas from the MCP server", async () => {
  const file = path.join(folder, "unchanged/.build/functions/mcp/call-mcp/shared__pages__mcp__server.mjs");
  expect((await stat(file)).size).toBeLessThan(220_000);
});

it("includes the code for JSON Schema in no function", async () => {
  for (const name of unchanged.keys()) {
    const bundle = path.join(folder, "unchanged/.build/functions", name, "index.mjs");
    const content = await readFile(bundle, "utf8");
    expect(content.includes("json-schema.org"), name).toBe(false);
  }
});

it("has the metadata of phone numbers only next to the bundles that read it", async () => {
  const metadata = "libphonenumber-js/metadata.max.json";
  for (const name of unchanged.keys()) {
    const bundle = path.join(folder, "unchanged/.build/functions", name);
    const isRead = (await readFile(path.join(bundle, "index.mjs"), "utf8")).includes(metadata);
    const size = await stat(path.join(bundle, "node_modules", metadata)).then(
      (file) => file.size,
      () => 0,
    );
    expect(size > 0, name).toBe(isRead);
  }
  expect(
    (await stat(path.join(folder, "unchanged/.build/functions/sms/send-sms/node_modules", metadata))).size,
  ).toBeGreaterThan(0);
});
