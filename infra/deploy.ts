import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

import { deployArguments } from "./deploy-arguments.ts";
import { projectRoot } from "./project-root.ts";

// `npm run deploy -- -c stage=NAME`: runs `cdk deploy`, with or without a terminal.

const cdk = path.join(projectRoot, "node_modules/aws-cdk/bin/cdk");
const typed = process.argv.slice(2);
const child = spawn(process.execPath, [cdk, ...deployArguments(typed, process.stdin.isTTY)], {
  cwd: projectRoot,
  stdio: "inherit",
});
// The terminal sends Ctrl-C to both processes, and the CDK handles it.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => child.kill("SIGTERM"));
const [code] = await once(child, "exit");
process.exitCode = typeof code === "number" ? code : 1;
