import { parseArgs } from "node:util";

import { dataFolderSetting } from "@sms-gateway/build/project-root.ts";
import { stageNamed } from "@sms-gateway/stack/stages/stage.ts";

import { consoleLine } from "./console.ts";
import type { LocalGateway } from "./gateway.ts";
import { portSetting } from "./loopback.ts";
import { stripeKeysOf } from "./stripe/keys.ts";
import { synthesizeLocalStack } from "./synthesize.ts";

// `npm start`: runs the gateway until a signal ends it. The README of this folder has its settings.

const { values: flags } = parseArgs({
  options: {
    fresh: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    stage: { type: "string", default: "local" },
  },
});
const allowedHosts = (process.env["ALLOWED_HOSTS"] ?? "")
  .toLowerCase()
  .split(/[,\s]+/)
  .map((host) => host.replace(/^\w+:\/\//, "").replace(/:\d+$/, ""))
  .filter(Boolean);
const dataFolder = dataFolderSetting();

let printed = "";
/** Prints the lines of one iteration of the event loop with one write. */
const print = (line: string): void => {
  if (printed === "") queueMicrotask(flush);
  printed += `${line}\n`;
};
process.once("exit", flush);
function flush(): void {
  process.stdout.write(printed);
  printed = "";
}
const printForPerson = (line: string): void => {
  const text = consoleLine(line);
  if (text !== undefined) print(text);
};

let gateway: LocalGateway | undefined;
let isStopping = false;
process.on("SIGTERM", stop);
process.on("SIGINT", stop);

try {
  const port = portSetting("PORT", 3000);
  stageNamed(flags.stage);
  const stripeKeys = stripeKeysOf(process.env);
  // The gateway's modules load while another process synthesizes its stack.
  const [assembly, { startLocalGateway }] = await Promise.all([
    synthesizeLocalStack(flags.stage),
    import("./gateway.ts"),
  ]);
  const log = flags.json ? print : printForPerson;
  const isFresh = flags.fresh;
  const options = { port, dataFolder, isFresh, allowedHosts, log, stripeKeys };
  gateway = await startLocalGateway({ ...assembly, ...options });
  print(`SMS gateway ready on ${gateway.url}`);
  if (!flags.json) {
    print(`Sent emails: ${gateway.mailboxUrl}`);
    if (gateway.stripe !== undefined) print(`Card payments: ${gateway.stripe.url}/dashboard`);
    const { startDeskLink } = await import("./desk-link.ts");
    print(`Operator's desk: ${(await startDeskLink(dataFolder)).link}`);
    print(`Documentation: ${gateway.url}/docs\nCtrl-C stops the gateway.`);
  }
} catch (error) {
  fail(error);
}

function stop(): void {
  // A second signal ends the process without waiting. `npm run dev` passes on a Ctrl-C that this process also gets.
  if (gateway === undefined || isStopping) process.exit(1);
  isStopping = true;
  gateway.stop().then(() => process.exit(0), fail);
}

function fail(error: unknown): never {
  const isTaken = error instanceof Error && "port" in error && "code" in error && error.code === "EADDRINUSE";
  process.stderr.write(
    isTaken
      ? `Port ${String(error.port)} is in use: stop the program that listens there, or choose another port: PORT=3001 npm start\n`
      : `${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}
