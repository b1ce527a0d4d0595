import { copyFile, glob, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { stringify } from "yaml";

import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { mcpTools } from "../../shared/api/openapi/tools.ts";
import { fontFiles } from "../../shared/money/invoices/fonts.ts";
import { hashedBundle, mainFile } from "./browser-bundle.ts";
import { buildOnce } from "./build-once.ts";
import { bundleFolder, bundlesFolder, fontsFolder } from "./bundle-folder.ts";
import { packageOptions, packagesOfOneFunction, serverWithoutValidator } from "./bundled-packages.ts";
import { buildSite } from "./docs/site.ts";
import { projectRoot } from "./project-root.ts";
import { servedPackages } from "./sdks/served.ts";

const handlersFolder = path.join(projectRoot, ".build/handlers");
const partsFolder = path.join(projectRoot, ".build/parts");

const require = createRequire(import.meta.url);

/** Bundles are ES modules, but some packages still call `require` for Node's own modules. */
const requireBanner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Bundles every file in `functions/` separately, into `.build/functions/<tag>/<name>/index.mjs`. Puts the compressed files
 * of the documentation next to the functions that serve them. Bundles of the same sources are kept.
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
    // A package of fonts has one, which esbuild reports because it sees the package as a part.
    logOverride: { "duplicate-object-key": "silent" },
  };
  for (const folder of [handlersFolder, partsFolder, bundlesFolder, fontsFolder]) {
    await rm(folder, { recursive: true, force: true });
  }
  // A handler first takes its row out of the file with all rows of its tag. The bundler would omit the others later too,
  // but unused code in a file also affects the short names.
  await build({
    ...options,
    entryPoints: handlers.map((name) => ({ in: `${name}.ts`, out: name })),
    outdir: handlersFolder,
    packages: "external",
    plugins: [rowsOnly],
  });
  // Bundles share nearly all their code. So the shared code is built first, as parts. Bundles of parts need half the time
  // and a third of the memory of bundles of sources.
  // Each shared file is a separate part with all its exports. With only the used exports, a handler that uses more would
  // change the parts, and with them the short names in every bundle.
  // The client and the OpenAPI document are not parts, because no function has them. They use the namespace of zod as an
  // object. A part with such an object, for example for `z.catch`, would keep it in every bundle.
  const shared = [
    ...(await sources("shared/!(api)/**/*.ts")),
    ...(await sources("shared/api/{contract,routes}/**/*.ts")),
  ];
  await build({
    ...options,
    entryPoints: [
      ...shared.map((name) => ({ in: `${name}.ts`, out: name })),
      ...handlers.map((name) => ({ in: path.join(handlersFolder, `${name}.mjs`), out: name })),
    ],
    outdir: partsFolder,
    splitting: true,
    external: packagesOfOneFunction,
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
  await putPackageFiles();
  const document = openApiDocument({ title: "{{brand.name}}" });
  await putBeside("docs/get-open-api", "openapi.json", JSON.stringify(document));
  await putBeside(
    "docs/get-open-api-yaml",
    "openapi.yaml",
    stringify(document, { aliasDuplicateObjects: false }),
  );
  await putBeside("mcp/call-mcp", "tools.json", JSON.stringify(mcpTools()));
  for (const [file, content] of await buildSite()) {
    await putBeside("docs/get-docs-page", file, content);
    if (file === "index.html") await putBeside("docs/get-docs", file, content);
    if (file === "llms.txt") await putBeside("docs/get-llms", file, content);
  }
  for (const [file, content] of await servedPackages()) {
    await putBeside("docs/get-docs-page", `packages--${file}`, content);
  }
  await bundleConsole();
}

/** Puts the files that are loaded later next to the bundles that load them. */
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
      plugins: [serverWithoutValidator],
      write: false,
    });
    for (const { folder, later } of bundles) {
      if (!later.includes(file)) continue;
      for (const { contents } of outputFiles) await writeFile(path.join(folder, file), contents);
    }
  }
}

/** The files of packages that functions read, and their places beside the bundles that name these. */
const packageFiles = {
  "node_modules/libphonenumber-js/metadata.max.json": "libphonenumber-js/metadata.max.json",
  // HarfBuzz reads it from its own folder.
  "harfbuzz.wasm": "harfbuzzjs/dist/harfbuzz.wasm",
};

/** Puts files of packages next to the bundles that name them, and the fonts into their layer. */
async function putPackageFiles(): Promise<void> {
  const put = async (name: string, target: string): Promise<void> => {
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(require.resolve(name), target);
  };
  for await (const file of glob("*/*/*.mjs", { cwd: bundlesFolder })) {
    const bundle = path.join(bundlesFolder, file);
    const source = await readFile(bundle, "utf8");
    for (const [place, name] of Object.entries(packageFiles)) {
      if (source.includes(place.replace("node_modules/", "")))
        await put(name, path.join(bundle, "..", place));
    }
  }
  for (const name of fontFiles) await put(name, path.join(fontsFolder, "nodejs/node_modules", name));
}

/** Bundles the console, a file for each view, and puts it next to the functions that serve it. */
async function bundleConsole(): Promise<void> {
  const files = await hashedBundle(["main.tsx", "main.css"]);
  for (const [name, content] of files) await putBeside("console/get-console-file", name, content);
  const page = await readFile(path.join(projectRoot, "functions/console/app/index.html"), "utf8");
  const named = page.replaceAll(/\{\{main\.(css|js)\}\}/g, (_, ending: string) => mainFile(files, ending));
  await writeFile(path.join(bundleFolder("console/get-console"), "index.html"), named);
}

/** Puts a compressed file next to the bundle of a function. */
async function putBeside(functionName: string, file: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path.join(bundleFolder(functionName), `${file}.gz`), gzipSync(content, { level: 9 }));
}

/**
 * Includes rows of the route table in a handler, and keeps all other used imports as imports. It removes the schema of a
 * row's response: only the document and the compiler read it, and `ServedRoute` keeps functions from it.
 */
const rowsOnly: Plugin = {
  name: "rows-only",
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^\.\.?\// }, ({ kind, path: imported, resolveDir }) => {
      const file = path.join(resolveDir, imported);
      const isTaken =
        kind === "entry-point" || path.dirname(file) === path.join(projectRoot, "shared/api/routes");
      return isTaken ? undefined : { path: file, external: true, sideEffects: false };
    });
    esbuild.onLoad({ filter: /[\\/]shared[\\/]api[\\/]routes[\\/]/ }, async ({ path: file }) => {
      const source = await readFile(file, "utf8");
      return { contents: source.replaceAll(/^  data: \w+,$/gm, ""), loader: "ts" };
    });
  },
};

/**
 * Makes each dynamic import a separate and complete file next to the bundle. Otherwise the import would be part of the
 * bundle, and would be read and compiled with it. With shared pieces each function would need a separate build.
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

/** Returns the file name of a part that is loaded later: its path, because file names repeat across folders. */
function laterName(part: string): string {
  return path.relative(partsFolder, part).replaceAll(path.sep, laterSeparator);
}

function laterPart(name: string): string {
  return path.join(partsFolder, ...name.split(laterSeparator));
}

/** A separator that no file or folder has in its name. */
const laterSeparator = "__";

/** Returns the source files of a pattern without their extension, in the same order on every machine. */
async function sources(pattern: string): Promise<string[]> {
  const names: string[] = [];
  for await (const file of glob(pattern, { cwd: projectRoot })) {
    names.push(file.replace(/\.ts$/, "").replaceAll(path.sep, "/"));
  }
  return names.toSorted();
}
