import { createHash } from "node:crypto";
import { copyFile, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";

import { DocsFile } from "../shared/contract/docs.ts";
import { openApiDocument } from "../shared/openapi.ts";
import { buildOnce } from "./build-once.ts";
import { packageOptions } from "./bundled-packages.ts";
import { projectRoot } from "./project-root.ts";

const bundlesFolder = path.join(projectRoot, ".build/functions");
const handlersFolder = path.join(projectRoot, ".build/handlers");
const partsFolder = path.join(projectRoot, ".build/parts");

const require = createRequire(import.meta.url);
const swaggerUiFolder = path.dirname(require.resolve("swagger-ui-dist/package.json"));

/** Bundles are ES modules, but some packages still call `require` for Node's own modules. */
const requireBanner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Bundles every file in `functions/` on its own, into `.build/functions/<tag>/<name>/index.mjs`, and puts what
 * the reference page loads beside the function that serves it, compressed. Bundles of the same sources are kept.
 */
export async function bundleFunctions(): Promise<void> {
  await buildOnce("functions", "", bundleAgain);
}

async function bundleAgain(): Promise<void> {
  const handlers = await sources("functions/*/*.ts");
  const options: BuildOptions = {
    absWorkingDir: projectRoot,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    legalComments: "none",
    logLevel: "warning",
  };
  for (const folder of [handlersFolder, partsFolder, bundlesFolder]) {
    await rm(folder, { recursive: true, force: true });
  }
  // A handler first takes its row out of the file that has all rows of its tag. The others would be left out of its
  // bundle later too, but all that is in a file has a say in the short names, also what is not used.
  await build({
    ...options,
    entryPoints: handlers.map((name) => ({ in: `${name}.ts`, out: name })),
    outdir: handlersFolder,
    packages: "external",
    plugins: [rowsOnly],
  });
  // Nearly all that a bundle consists of is in others too. What they share is read and shaken once for all, as parts;
  // from these the bundles are made in half the time, and with a third of the memory, of making each from the sources.
  // Each shared file is a part of its own, with all that it exports. Made of what handlers happen to use, the parts, and
  // with them the short names in every bundle, would change as soon as a single handler came to use more.
  // No function has the client or the OpenAPI document, so that these are no parts. They use what takes a namespace of zod
  // as an object with all of its names, such as `z.catch`, and a part with such an object keeps it in every bundle.
  await build({
    ...options,
    entryPoints: [
      ...(await sources("shared/!(openapi)/**/*.ts")).map((name) => ({ in: `${name}.ts`, out: name })),
      ...handlers.map((name) => ({ in: path.join(handlersFolder, `${name}.mjs`), out: name })),
    ],
    outdir: partsFolder,
    splitting: true,
    ...packageOptions,
  });
  const { metafile } = await build({
    ...options,
    entryPoints: handlers.map((name) => ({
      in: path.join(partsFolder, `${name}.mjs`),
      out: `${name}/index`,
    })),
    outdir: path.dirname(bundlesFolder),
    minify: true,
    banner: { js: requireBanner },
    metafile: true,
    plugins: [loadedLater],
  });
  await putLaterFiles(metafile, options);
  await putNumberMetadata(metafile);
  await putBeside("docs/get-open-api", "openapi.json", JSON.stringify(openApiDocument()));
  for (const file of DocsFile.options) {
    await putBeside("docs/get-docs-file", file, await readFile(path.join(swaggerUiFolder, file)));
  }
  await bundleConsole();
}

/** Puts the files that are loaded later beside the bundles that load them. */
async function putLaterFiles({ outputs }: Metafile, options: BuildOptions): Promise<void> {
  const bundles = Object.entries(outputs).map(([file, { imports }]) => ({
    folder: path.join(projectRoot, path.dirname(file)),
    later: imports.flatMap(({ path: imported }) =>
      imported.startsWith("./") ? path.basename(imported) : [],
    ),
  }));
  for (const file of new Set(bundles.flatMap(({ later }) => later))) {
    const { outputFiles } = await build({
      ...options,
      entryPoints: [laterPart(file)],
      minify: true,
      banner: { js: requireBanner },
      write: false,
    });
    for (const { folder, later } of bundles) {
      if (!later.includes(file)) continue;
      for (const { contents } of outputFiles) await writeFile(path.join(folder, file), contents);
    }
  }
}

/** Puts the metadata of phone numbers where the bundles that need it find it as a file of its package. */
async function putNumberMetadata({ outputs }: Metafile): Promise<void> {
  const name = "libphonenumber-js/metadata.max.json";
  for (const file of Object.keys(outputs)) {
    const bundle = path.join(projectRoot, file);
    if (!(await readFile(bundle, "utf8")).includes(name)) continue;
    const target = path.join(path.dirname(bundle), "node_modules", name);
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(require.resolve(name), target);
  }
}

/** Bundles the console, a file for each view, and puts it beside the functions that serve it. */
async function bundleConsole(): Promise<void> {
  const appFolder = path.join(projectRoot, "functions/console/app");
  const { outputFiles } = await build({
    absWorkingDir: projectRoot,
    entryPoints: ["main.tsx", "main.css"].map((name) => path.join(appFolder, name)),
    outdir: partsFolder,
    entryNames: "[name]-[hash]",
    write: false,
    bundle: true,
    minify: true,
    splitting: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  const files = contentAddressed(outputFiles.map((file) => [path.basename(file.path), file.text]));
  for (const { name, content } of files) await putBeside("console/get-console-file", name, content);
  const page = await readFile(path.join(appFolder, "index.html"), "utf8");
  const named = page.replaceAll(/\{\{main\.(css|js)\}\}/g, (_, ending: string) => {
    const main = files.find(({ name }) => name.startsWith("main-") && name.endsWith(`.${ending}`));
    if (main === undefined) throw new Error(`the console has no main.${ending}`);
    return main.name;
  });
  await writeFile(path.join(bundleFolder("console/get-console"), "index.html"), named);
}

/**
 * Gives files of one build names that say what is in them all. The hashes that esbuild puts into names come from the
 * folders of packages too, and would be others in another checkout.
 */
function contentAddressed(
  files: readonly (readonly [name: string, text: string])[],
): { name: string; content: string }[] {
  const hashed = /\b([\w-]+)-[0-9A-Z]{8}\.(css|js)\b/g;
  const byContent = files
    .map(([name, text]) => ({
      name,
      text,
      content: `${name.replace(hashed, "$1.$2")} ${text.replaceAll(hashed, "")}`,
    }))
    .toSorted((one, other) => (one.content < other.content ? -1 : 1));
  const digest = createHash("sha256")
    .update(byContent.map(({ content }) => content).join("\n"))
    .digest("hex")
    .slice(0, 12);
  const names = new Map(
    byContent.map(({ name }, index) => [name, name.replace(hashed, `$1-${digest}${index}.$2`)]),
  );
  return byContent.map(({ name, text }) => ({
    name: names.get(name) ?? name,
    content: text.replaceAll(hashed, (found) => names.get(found) ?? found),
  }));
}

/** Puts a file beside the bundle of a function, compressed. */
async function putBeside(functionName: string, file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path.join(bundleFolder(functionName), `${file}.gz`), gzipSync(content, { level: 9 }));
}

/**
 * Brings rows of the route table into a handler, and leaves all else to be imported, unless nothing of it is used. Of a
 * row goes what its operation answers with: only the document and the compiler read it, which sees to it that no function
 * does (`ServedRoute`).
 */
const rowsOnly: Plugin = {
  name: "rows-only",
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^\.\.?\// }, ({ kind, path: imported, resolveDir }) => {
      const file = path.join(resolveDir, imported);
      const isTaken =
        kind === "entry-point" || path.dirname(file) === path.join(projectRoot, "shared/routes");
      return isTaken ? undefined : { path: file, external: true, sideEffects: false };
    });
    esbuild.onLoad({ filter: /[\\/]shared[\\/]routes[\\/]/ }, async ({ path: file }) => {
      const source = await readFile(file, "utf8");
      return { contents: source.replaceAll(/^  data: \w+,$/gm, ""), loader: "ts" };
    });
  },
};

/**
 * Keeps what is imported when it is first needed out of a bundle, as a file beside it that has all that it needs. Such an
 * import would else be a part of the bundle, read and compiled with it; and with pieces that both have, each function would
 * take a build of its own.
 */
const loadedLater: Plugin = {
  name: "loaded-later",
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^\.\.?\// }, ({ kind, path: imported, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      return { path: `./${laterName(path.join(resolveDir, imported))}`, external: true };
    });
  },
};

/** The name beside a bundle of a part that is loaded later: its path, for several folders may have a file of a name. */
function laterName(part: string): string {
  return path.relative(partsFolder, part).replaceAll(path.sep, laterSeparator);
}

function laterPart(name: string): string {
  return path.join(partsFolder, ...name.split(laterSeparator));
}

/** No name of a file or folder has it. */
const laterSeparator = "__";

/** The source files of a pattern without their ending, in an order that every machine gives them. */
async function sources(pattern: string): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob(pattern, { cwd: projectRoot })) {
    names.push(file.replace(/\.ts$/, "").replaceAll(path.sep, "/"));
  }
  return names.toSorted();
}

/** The folder with the bundle of `functions/<name>.ts`. */
export function bundleFolder(name: string): string {
  return path.join(bundlesFolder, name);
}
