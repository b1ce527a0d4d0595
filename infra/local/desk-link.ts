import { spawn, type ChildProcess } from "node:child_process";
import { createServer, type Server } from "node:http";
import { createInterface } from "node:readline";

import { projectRoot } from "@sms-gateway/build/project-root.ts";

import { isLocalRequest, isUnder, listenOnLoopback, newSecretPath } from "./loopback.ts";

/**
 * Serves a link to the operator's desk, which starts when someone opens it. Each opening starts a new desk, and ends the one
 * before. A desk ends with the server or with this process.
 */
export async function startDeskLink(dataFolder: string): Promise<{ link: string; server: Server }> {
  const secretPath = newSecretPath();
  let desk: ChildProcess | undefined;
  const end = (): void => void desk?.stdin?.end();
  const server = createServer(({ method, headers, url }, response) => {
    if (method !== "GET" || !isLocalRequest(headers) || !isUnder(secretPath, url)) {
      response.writeHead(404).end("Open the link that npm start printed.");
      return;
    }
    end();
    const child = spawn(process.execPath, ["infra/operator/main.ts", "desk", "--json"], {
      cwd: projectRoot,
      env: { ...process.env, DATA_DIR: dataFolder },
      stdio: ["pipe", "pipe", "inherit"],
    });
    desk = child;
    createInterface(child.stdout).once("line", (line) => {
      response.writeHead(303, { location: JSON.parse(line).link, "cache-control": "no-store" }).end();
    });
    child.once("exit", () => {
      if (!response.headersSent) response.writeHead(500).end("The desk did not start: see the terminal.");
    });
  });
  server.once("close", end);
  const port = await listenOnLoopback(server);
  return { link: `http://127.0.0.1:${port}${secretPath}`, server };
}
