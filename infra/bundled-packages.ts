import path from "node:path";

import type { BuildOptions, Plugin } from "esbuild";

import { projectRoot } from "./project-root.ts";

/**
 * Marks the files of the package as free of side effects, which its `package.json` does not do. The bundler omits unused
 * files only then.
 */
const documentsWithoutClient: Plugin = {
  name: "documents-without-client",
  setup: (esbuild) => {
    const inside = /[\\/]@aws-sdk[\\/]lib-dynamodb[\\/]/;
    const resolved = Symbol("resolved");
    esbuild.onResolve({ filter: /^(@aws-sdk\/lib-dynamodb$|\.)/ }, async ({ path: imported, ...options }) => {
      const isInside = imported.startsWith(".") ? inside.test(options.importer) : true;
      if (!isInside || options.pluginData === resolved) return undefined;
      const found = await esbuild.resolve(imported, { ...options, pluginData: resolved });
      return { ...found, sideEffects: false };
    });
  },
};

/**
 * Omits the layers of the SDK's own client, which the SDK's commands name. Functions have their own client in
 * `shared/platform/aws`.
 */
const commandsWithoutMiddleware: Plugin = {
  name: "commands-without-middleware",
  setup: (esbuild) => {
    const layers = /^@(aws-sdk\/core\/client|aws-sdk\/middleware-sdk-sqs|smithy\/core\/endpoints)$/;
    const commands = /[\\/]@aws-sdk[\\/].*[\\/](commandBuilder|DynamoDBDocumentClientCommand)\.js$/;
    esbuild.onResolve({ filter: layers }, ({ importer }) =>
      commands.test(importer) ? { path: path.join(projectRoot, "infra/without-middleware.ts") } : undefined,
    );
  },
};

/** Omits most unused code of packages from bundles. */
export const packageOptions = {
  // Most of the SDK ships a CommonJS and an ES build; only the latter can be shaken.
  mainFields: ["module", "main"],
  plugins: [documentsWithoutClient, commandsWithoutMiddleware],
} satisfies BuildOptions;
