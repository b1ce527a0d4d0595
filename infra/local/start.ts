import { rm } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { projectRoot } from "../project-root.ts";
import { consoleLine } from "./console.ts";
import { synthesizeLocalStack } from "./synthesize.ts";

// `npm start`: runs the gateway until a signal ends it. Settings are in the README.

const { values: flags } = parseArgs({
  options: {
    fresh: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const port = Number(process.env["PORT"] ?? 3000);
const dataFolder = path.resolve(projectRoot, process.env["DATA_DIR"] ?? ".local");

if (flags.fresh) await rm(dataFolder, { recursive: true, force: true });

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const printForPerson = (line: string): void => {
  const text = consoleLine(line);
  if (text !== undefined) print(text);
};

try {
  // The gateway's modules load while another process synthesizes its stack.
  const [assembly, { startLocalGateway }] = await Promise.all([
    synthesizeLocalStack(),
    import("./gateway.ts"),
  ]);
  const log = flags.json ? print : printForPerson;
  const gateway = await startLocalGateway({ ...assembly, port, dataFolder, log });
  print(`SMS gateway ready on ${gateway.url}`);
  if (!flags.json) print(`Its API reference, to read and to try, is on ${gateway.url}/docs; Ctrl-C ends it.`);
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
