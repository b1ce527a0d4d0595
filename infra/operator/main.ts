import { enableCompileCache } from "node:module";
import path from "node:path";

import { projectRoot } from "../project-root.ts";

// `npm run operator -- <command>`: what only the operator of a gateway may do.

// Whoever reads the results may have had enough of them.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
});

// Most of a command's start is to compile TypeScript and the AWS SDK: what is imported from here on is kept compiled.
enableCompileCache(path.join(projectRoot, ".build/compile-cache"));

const { runCommandLine } = await import("./run.ts");
await runCommandLine(process.argv.slice(2), process.stdin.isTTY);
