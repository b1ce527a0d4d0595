// Runs before each program of the project (`node --require`), in the syntax of old versions of Node, so that these can run it.
"use strict";

// A variable that a shell, a `.env` file or Docker Compose passes without a value is not set. Those of functions, which are
// threads here, may be blank as in Lambda.
if (require("node:worker_threads").isMainThread) {
  for (const name of Object.keys(process.env)) {
    if (/^\s*$/.test(process.env[name])) delete process.env[name];
  }
}

// The programs are in TypeScript, which Node reads itself.
if (!process.features.typescript) {
  const needed = require("../package.json").engines.node.replace(">=", "");
  process.stderr.write(
    "The SMS gateway needs Node " +
      needed +
      " or newer, and this is Node " +
      process.versions.node +
      " (" +
      process.execPath +
      ").\nInstall Node 24, for example from https://nodejs.org, and try again.\n",
  );
  process.exit(1);
}
