import { enableCompileCache } from "node:module";
import path from "node:path";

import { projectRoot } from "@sms-gateway/build/project-root.ts";

// `npm run operator -- <command>`: the commands of the gateway's operator.

// The reader of a pipe, such as `head`, may close it early.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
});

// A command spends most of its start on compiling TypeScript and the AWS SDK: cache what is imported from here on.
enableCompileCache(path.join(projectRoot, ".build/compile-cache"));

const { runCommandLine } = await import("./run.ts");
await runCommandLine(process.argv.slice(2), process.stdin.isTTY);
