import { rm } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { projectRoot } from "../project-root.ts";
import { synthesizeLocalStack } from "./synthesize.ts";

// `npm start`: runs the gateway until a signal ends it. Settings are in the README.

const { values: flags } = parseArgs({ options: { fresh: { type: "boolean", default: false } } });
const port = Number(process.env["PORT"] ?? 3000);
const dataFolder = path.resolve(projectRoot, process.env["DATA_DIR"] ?? ".local");

if (flags.fresh) await rm(dataFolder, { recursive: true, force: true });

const print = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  // The gateway's modules load while another process synthesizes its stack.
  const [assembly, { startLocalGateway }] = await Promise.all([
    synthesizeLocalStack(),
    import("./gateway.ts"),
  ]);
  const gateway = await startLocalGateway({ ...assembly, port, dataFolder, log: print });
  print(`SMS gateway ready on ${gateway.url}`);
  const stop = (): void => {
    gateway.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
} catch (error) {
  fail(error);
}

function fail(error: unknown): never {
  const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  process.stderr.write(
    taken
      ? `Port ${port} is taken: end what listens there, or choose another with PORT=3001 npm start\n`
      : `${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}
