import path from "node:path";

import { buildOnce } from "@sms-gateway/build/build-once.ts";
import { projectRoot } from "@sms-gateway/build/project-root.ts";

const folder = "threads";

const fileOf = (name: string): string => path.join(projectRoot, ".build", folder, `${name}.mjs`);

/** The entry files of the gateway's threads: `function-thread.ts` and `store/thread.ts`, bundled to JavaScript. */
export const functionThreadFile = fileOf("function-thread");
export const storeThreadFile = fileOf("store-thread");

/**
 * Builds these files, unless the sources are unchanged. Node can also remove types itself, but that costs 7 MB in each
 * thread, and 0.1 s for the store's modules.
 */
export async function buildThreads(): Promise<void> {
  await buildOnce(folder, "", async () => {
    // Loaded here, because it is not needed when the files are built already.
    const { build, stop } = await import("esbuild");
    await build({
      absWorkingDir: projectRoot,
      entryPoints: {
        "function-thread": "infra/local/function-thread.ts",
        "store-thread": "infra/local/store/thread.ts",
      },
      outdir: path.dirname(functionThreadFile),
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "warning",
    });
    await stop();
  });
}
