import { readFile } from "node:fs/promises";

import type { BuildOptions, Plugin } from "esbuild";

/**
 * Leaves out how zod describes its schemas as JSON Schema. Each kind of schema refers to it, but no function asks for it:
 * the OpenAPI document is made by the build. Whoever asked all the same would get an error that says so.
 */
const withoutJsonSchemas: Plugin = {
  name: "without-json-schemas",
  setup: (esbuild) => {
    const filter = /[\\/]zod[\\/]v4[\\/]core[\\/](json-schema-processors|to-json-schema)\.js$/;
    esbuild.onLoad({ filter }, async ({ path: file }) => {
      const source = await readFile(file, "utf8");
      const names = [...source.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
      const exported = names.map((name) => `leftOut as ${name}`).join(", ");
      return {
        contents: `function leftOut() { throw new Error("functions carry no JSON Schemas"); } export { ${exported} };`,
      };
    });
  },
};

/** Leaves of the `package.json` of the SDK's clients what they read of it: the version, for the header `User-Agent`. */
const versionsOnly: Plugin = {
  name: "versions-only",
  setup: (esbuild) => {
    esbuild.onLoad(
      { filter: /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/ },
      async ({ path: file }) => {
        const { version }: { version: string } = JSON.parse(await readFile(file, "utf8"));
        return { contents: JSON.stringify({ version }), loader: "json" };
      },
    );
  },
};

/** How packages get into bundles, of which they are the greater part: with as little as can be of what is never used. */
export const packageOptions = {
  // Most of the SDK ships a CommonJS and an ES build; only the latter can be shaken.
  mainFields: ["module", "main"],
  // Lambda always hands a function its credentials in the environment. The SDK's default chain also knows
  // profiles, SSO, web identity and instance metadata: a quarter of each bundle, never used.
  alias: { "@aws-sdk/credential-provider-node": "./infra/lambda-credentials.ts" },
  // The SDK imports this when an operation streams events, which no operation does of the services that are used.
  external: ["@smithy/core/event-streams"],
  plugins: [withoutJsonSchemas, versionsOnly],
} satisfies BuildOptions;
