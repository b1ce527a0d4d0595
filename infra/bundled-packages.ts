import path from "node:path";

import type { BuildOptions, Plugin } from "esbuild";

import { projectRoot } from "./project-root.ts";

/**
 * Says of the package that its `package.json` is silent about what those of all others of the SDK say: its files do nothing
 * but export. Only then are those left out that nothing uses.
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
 * The SDK's commands name the layers that the SDK's own client carries them out with. Functions have a client of their own,
 * in `shared/platform/aws`, and leave these layers out.
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

/** How packages get into bundles, of which they are the greater part: with as little as can be of what is never used. */
export const packageOptions = {
  // Most of the SDK ships a CommonJS and an ES build; only the latter can be shaken.
  mainFields: ["module", "main"],
  plugins: [documentsWithoutClient, commandsWithoutMiddleware],
} satisfies BuildOptions;
