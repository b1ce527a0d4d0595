import path from "node:path";

import { buildOnce } from "../build-once.ts";
import { projectRoot } from "../project-root.ts";

const folder = "threads";

const fileOf = (name: string): string => path.join(projectRoot, ".build", folder, `${name}.mjs`);

/** What the threads of the gateway begin with: `function-thread.ts` and `store/thread.ts`, each as one file without types. */
export const functionThreadFile = fileOf("function-thread");
export const storeThreadFile = fileOf("store-thread");

/**
 * Builds these files, unless the same sources made them before. Node can remove types itself, which takes 7 MB in each
 * thread, and 0.1 s where a thread has as many modules as the store's.
 */
export async function buildThreads(): Promise<void> {
  await buildOnce(folder, "", async () => {
    // Only here, as a gateway whose files are built has no use for it.
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
