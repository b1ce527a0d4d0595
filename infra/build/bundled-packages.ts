import type { BuildOptions, Plugin } from "esbuild";

/**
 * Omits the validator of JSON schemas from the MCP server, which would be a third of its bundle. It is only for questions to
 * the user, which the server does not ask.
 */
export const serverWithoutValidator: Plugin = {
  name: "server-without-validator",
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /[\\/]validation[\\/]ajv-provider\.js$/ }, () => ({
      contents: "export class AjvJsonSchemaValidator {}",
    }));
  },
};

/**
 * Packages that only one function uses. They are not in the parts, because they would add their code of zod to every
 * bundle.
 */
export const packagesOfOneFunction = ["@modelcontextprotocol/*"];

/** Omits most unused code of packages from bundles: most of the SDK ships CommonJS and ES modules, and only the latter can be shaken. */
export const packageOptions = { mainFields: ["module", "main"] } satisfies BuildOptions;
