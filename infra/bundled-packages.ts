import path from "node:path";

import type { BuildOptions, Plugin } from "esbuild";

import { projectRoot } from "./project-root.ts";

/**
 * Omits the layers of the SDK's own client, which the SDK's commands name. Functions have their own client in
 * `shared/platform/aws`.
 */
const commandsWithoutMiddleware: Plugin = {
  name: "commands-without-middleware",
  setup: (esbuild) => {
    const layers =
      /^@(aws-sdk\/(checksums\/flexible-checksums|core\/client|middleware-sdk-s3\/s3|middleware-sdk-sqs)|smithy\/core\/endpoints)$/;
    const commands = /[\\/]@aws-sdk[\\/].*[\\/](commandBuilder|DynamoDBDocumentClientCommand)\.js$/;
    esbuild.onResolve({ filter: layers }, ({ importer }) =>
      commands.test(importer) ? { path: path.join(projectRoot, "infra/without-middleware.ts") } : undefined,
    );
  },
};

/**
 * Omits the validator of JSON schemas from the MCP server, which would be a third of its bundle. It is only for questions to
 * the user.
 */
export const serverWithoutValidator: Plugin = {
  name: "server-without-validator",
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /\/validation\/ajv-provider\.js$/ }, () => ({
      path: path.join(projectRoot, "infra/without-middleware.ts"),
    }));
  },
};

/**
 * Packages that only one function uses. They are not in the parts, because they would add their code of zod to every
 * bundle.
 */
export const packagesOfOneFunction = ["@modelcontextprotocol/*"];

/** Omits most unused code of packages from bundles. */
export const packageOptions = {
  // Most of the SDK ships a CommonJS and an ES build; only the latter can be shaken.
  mainFields: ["module", "main"],
  // Only the commands of the package: it does not mark its files as free of side effects, so its client would stay too.
  alias: { "@aws-sdk/lib-dynamodb": "@aws-sdk/lib-dynamodb/dist-es/commands/index.js" },
  plugins: [commandsWithoutMiddleware],
} satisfies BuildOptions;
