import { createServer, type IncomingMessage, type Server } from "node:http";
import { json } from "node:stream/consumers";

import { isUnder, listenOnLoopback, newSecretPath } from "@sms-gateway/local/loopback.ts";
import * as z from "zod/mini";

import { hourMs, now } from "../../../shared/platform/clock.ts";
import { config } from "../../../shared/platform/config.ts";
import { errorText } from "../error-text.ts";
import { pages } from "./pages.ts";
import type { Desk } from "./protocol.ts";
import { offeredCommands, runsOf, type DeskOptions } from "./runs.ts";

const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

interface Reply {
  readonly status?: number;
  readonly body: object | string;
  /** The kind of text; `plain` by default. */
  readonly type?: string;
  readonly cookie?: string;
}

const newSecret = (): string => newSecretPath().slice(1);
const sessionHours = 8;
const Token = z.object({ token: z.string() });
const notFound: Reply = { status: 404, body: "Open the link that the command printed." };

/**
 * Serves the desk on this machine only. Requests with another host or origin are rejected, so that no page of another
 * site reaches it. A token begins the only session; then a cookie that no script can read continues it.
 */
export async function startDesk(options: DeskOptions): Promise<{ link: string; server: Server }> {
  const { commands, stage: { name: stage } = { name: "local" }, identity, files } = options;
  const run = runsOf(options);
  const desk: Desk = { stage, identity, pages, commands: offeredCommands(commands) };
  const [secretPath, token, session] = [newSecretPath(), newSecret(), newSecret()];
  let endsAtMs: number | undefined;

  const replyTo = async (request: IncomingMessage): Promise<Reply> => {
    const { method, url = "" } = request;
    const { host = "", origin, cookie = "" } = request.headers;
    if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
      return { status: 403, body: "Unknown host." };
    if (!isUnder(`${secretPath}/`, url)) return notFound;
    const name = url.slice(secretPath.length + 1);
    if (method === "GET" && name === "") return { body: pageOf(stage), type: "html; charset=utf-8" };
    const file = files.get(name);
    if (method === "GET" && file !== undefined)
      return { body: file, type: name.endsWith("js") ? "javascript" : "css" };
    if (method !== "POST" || origin !== `http://${host}`) return { status: 403, body: "Unknown origin." };
    const body = await json(request);
    // Cookies of one host belong to all its ports.
    const ofSession = `desk-${port}=${session}`;
    if (name === "session") {
      if (endsAtMs !== undefined || !isSame(Token.parse(body).token, token)) {
        return { status: 401, body: "This link was used already, or is not complete." };
      }
      endsAtMs = now().getTime() + sessionHours * hourMs;
      const attributes = `Path=${secretPath}/; Max-Age=${sessionHours * 3_600}; HttpOnly; SameSite=Strict`;
      return { body: {}, cookie: `${ofSession}; ${attributes}` };
    }
    const isOpen = endsAtMs !== undefined && now().getTime() < endsAtMs;
    if (!isOpen || !cookie.split("; ").some((each) => isSame(each, ofSession))) {
      return { status: 401, body: "The session has ended." };
    }
    if (name === "desk") return { body: desk };
    return name === "run" ? { body: await run(body) } : notFound;
  };

  const server = createServer((request, response) => {
    void replyTo(request)
      .catch((error: unknown): Reply => ({ status: 400, body: errorText(error) }))
      .then(({ status = 200, body, type = "plain", cookie = [] }) =>
        response
          .writeHead(status, { ...headers, "content-type": `text/${type}`, "set-cookie": cookie })
          .end(typeof body === "string" ? body : JSON.stringify(body)),
      );
  });
  const port = await listenOnLoopback(server);
  return { link: `http://127.0.0.1:${port}${secretPath}/#token=${token}`, server };
}

/** Compares a secret in constant time. */
function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && isUnder(expected, given);
}

function pageOf(stage: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="currency" content="${config.currency()}">
<meta name="brand" content='{"name":"Desk of ${stage}","images":[]}'>
<title>Desk of ${stage}</title>
<link rel="stylesheet" href="main.css">
<script type="module" src="app.js"></script>
</head>
<body><div id="console"></div></body>
</html>
`;
}
