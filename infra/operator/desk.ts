import { once } from "node:events";
import { fstatSync } from "node:fs";

import * as z from "zod/mini";

import { command } from "./command.ts";
import { operatorIdentity } from "./identity.ts";

export const deskCommand = command({
  name: "desk",
  summary: "Serve pages for the daily work on this machine",
  details:
    "Prints a link that works once. The pages run these commands with your credentials: they show the same questions, and make " +
    "the same entries in the audit log. Ctrl-C or the end of the terminal ends them, and eight hours end the session. In the " +
    "background, with a closed standard input, the desk ends with `kill`.",
  examples: ["", "--stage prod"],
  input: z.object({}),
  run: async (_, { output, stage, ...connection }) => {
    // Other commands start without the bundler.
    const [{ commands }, { startDesk }, { bundleForBrowser }] = await Promise.all([
      import("./command-line.ts"),
      import("./desk/server.ts"),
      import("@sms-gateway/build/browser-bundle.ts"),
    ]);
    const files = new Map(await bundleForBrowser(["desk/app.tsx", "desk/main.css"]));
    const identity = await operatorIdentity(stage);
    const { link, server } = await startDesk({ commands, stage, connection, identity, files });
    output.result({ link }, `Open ${link}\nCtrl-C ends the desk.`);
    // A closed standard input is a file or a device, whose end has no meaning.
    const input = fstatSync(process.stdin.fd);
    if (!process.stdin.isTTY && !input.isFIFO() && !input.isSocket()) return;
    // The terminal, or the program that started the desk, has ended.
    process.stdin.resume();
    await once(process.stdin, "end");
    server.close();
    server.closeAllConnections();
  },
});
