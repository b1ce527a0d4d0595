import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { hasPython, pythonPrograms } from "../../../infra/build/python-programs.ts";
import { Smsc } from "../../carriers/smsc.ts";
import { freePort, waitForPort } from "../../support/ports.ts";
import { message } from "../served-gateway.ts";
import { MissingProgramError, startTimeoutMs, type Peer, type PeerKind } from "./peer.ts";
import { Programs, requirePrograms } from "./programs.ts";

/** Jasmin with its RabbitMQ and Redis, all of them on the disk, and a carrier that speaks SMPP. */
export const jasmin: PeerKind = {
  name: "Jasmin",
  guarantee: "an accepted message is in RabbitMQ; balances are saved each minute",
  start: startJasmin,
};

/** Debian's path of RabbitMQ's own script, which runs as the user who calls it. */
const rabbitmqServer = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const run = promisify(execFile);

async function startJasmin(): Promise<Peer> {
  await requirePrograms("redis-server", "epmd");
  if (!existsSync(rabbitmqServer)) throw new MissingProgramError("there is no rabbitmq-server here");
  if (!(await hasPython())) throw new MissingProgramError("there is no Python with venv here");
  const python = await pythonPrograms("test/benchmarks/peers/requirements.txt").catch((cause: unknown) => {
    throw new MissingProgramError("its Python packages cannot be installed", { cause });
  });
  const specification = await amqpSpecification(python);
  const folder = await mkdtemp(path.join(tmpdir(), "jasmin-bench-"));
  const programs = new Programs();
  const smsc = await Smsc.start();
  const redisPort = await freePort();
  programs.start("redis-server", ["--bind", "127.0.0.1", "--port", String(redisPort), "--dir", folder]);
  const rabbitPort = await startRabbit(programs, folder);
  await waitForPort(redisPort, startTimeoutMs);
  const ports = { http: await freePort(), console: await freePort() };
  for (const name of ["store", "log"]) await mkdir(path.join(folder, name));
  await writeFile(path.join(folder, "jasmin.cfg"), "");
  const env = {
    ROOT_PATH: folder,
    CONFIG_PATH: folder,
    STORE_PATH: path.join(folder, "store"),
    LOG_PATH: path.join(folder, "log"),
    AMQP_BROKER_PORT: String(rabbitPort),
    AMQP_BROKER_SPEC: specification,
    REDIS_CLIENT_PORT: String(redisPort),
    HTTP_API_BIND: "127.0.0.1",
    HTTP_API_PORT: String(ports.http),
    JCLI_PORT: String(ports.console),
    JCLI_AUTHENTICATION: "false",
    ROUTER_BIND: "127.0.0.1",
    ROUTER_PORT: String(await freePort()),
    CLIENT_MANAGEMENT_BIND: "127.0.0.1",
    CLIENT_MANAGEMENT_PORT: String(await freePort()),
    // Its console requires these.
    SMPP_SERVER_BIND: "127.0.0.1",
    SMPP_SERVER_PORT: String(await freePort()),
    SMPP_SERVER_PB_BIND: "127.0.0.1",
    SMPP_SERVER_PB_PORT: String(await freePort()),
  };
  const daemon = path.join(python, "jasmind.py");
  programs.start(daemon, ["--config", path.join(folder, "jasmin.cfg")], { env });
  await waitForPort(ports.http, startTimeoutMs);
  await waitForPort(ports.console, startTimeoutMs);
  await configure(ports.console, smsc.port);
  await waitUntil("Jasmin has bound to the carrier", () => smsc.isConnected);
  const { to, senderId: from, message: content } = message;
  const query = new URLSearchParams({ username: "bench", password: "bench", to, from, content });
  return {
    call: () => ({ method: "GET", url: `http://127.0.0.1:${ports.http}/send?${query.toString()}` }),
    delivered: async () => smsc.received.length,
    usage: async () => programs.usage(),
    stop: async () => {
      await programs.stop();
      await smsc.disconnect();
      await rm(folder, { recursive: true });
    },
  };
}

/** @returns the port that it listens on */
async function startRabbit(programs: Programs, folder: string): Promise<number> {
  const [port, namePort, peerPort] = [await freePort(), await freePort(), await freePort()];
  const env = {
    HOME: folder,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    ERL_EPMD_PORT: String(namePort),
    RABBITMQ_NODENAME: "bench@localhost",
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(peerPort),
    RABBITMQ_MNESIA_BASE: path.join(folder, "rabbitmq"),
    RABBITMQ_LOG_BASE: path.join(folder, "rabbitmq-log"),
    RABBITMQ_PID_FILE: path.join(folder, "rabbitmq.pid"),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, "plugins"),
    RABBITMQ_CONF_ENV_FILE: path.join(folder, "no-environment"),
  };
  await writeFile(env.RABBITMQ_ENABLED_PLUGINS_FILE, "[].");
  // Otherwise RabbitMQ starts a daemon for the names of its nodes, which does not end with it.
  programs.start("epmd", [], { env });
  await waitForPort(namePort, startTimeoutMs);
  programs.start(rabbitmqServer, [], { env });
  await waitForPort(port, startTimeoutMs);
  return port;
}

/** The definition of RabbitMQ's protocol for Jasmin, which only its source package has. */
async function amqpSpecification(python: string): Promise<string> {
  const folder = path.dirname(python);
  const file = path.join(folder, "amqp0-9-1.xml");
  if (existsSync(file)) return file;
  const { stdout } = await run(path.join(python, "pip"), ["show", "jasmin"]);
  const version = /^Version: (\S+)$/m.exec(stdout)?.[1] ?? "";
  const download = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", `jasmin==${version}`];
  await run(path.join(python, "pip"), [...download, "--dest", folder]);
  const archive = (await readdir(folder)).find((name) => name.endsWith(".tar.gz"));
  if (archive === undefined) throw new Error("pip has not downloaded Jasmin's source package");
  const member = `jasmin-${version}/misc/config/resource/amqp0-9-1.xml`;
  const { stdout: content } = await run("tar", ["-xzOf", path.join(folder, archive), member], {
    maxBuffer: 2 ** 24,
  });
  await writeFile(file, content);
  return file;
}

/** Gives Jasmin, over its console, a customer, a carrier and the route to it. */
async function configure(consolePort: number, carrierPort: number): Promise<void> {
  const commands = [
    ["group -a", "gid bench", "ok"],
    ["user -a", "uid bench", "gid bench", "username bench", "password bench", "ok"],
    [
      "smppccm -a",
      "cid carrier",
      "host 127.0.0.1",
      `port ${carrierPort}`,
      "username bench",
      "password bench",
      // No limit.
      "submit_throughput 0",
      "ok",
    ],
    ["mtrouter -a", "type defaultroute", "connector smppc(carrier)", "rate 0.00", "ok"],
    ["smppccm -1 carrier"],
  ];
  const socket = connect(consolePort, "127.0.0.1");
  await once(socket, "connect");
  let said = "";
  socket.on("data", (data: Buffer) => {
    said += data.toString("latin1");
  });
  // After its first response it prompts with "jcli : ", and within a form with "> ".
  await waitUntil("Jasmin's console responds", () => said.includes("Session ref"));
  for (const line of commands.flat()) {
    said = "";
    socket.write(`${line}\r\n`);
    await waitUntil(`Jasmin's console accepts "${line}"`, () => /(jcli : |> )$/.test(said));
    if (/error|unknown|must set/i.test(said)) throw new Error(`Jasmin's console reports: ${said}`);
  }
  socket.destroy();
}

async function waitUntil(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`this did not happen in time: ${what}`);
    await delay(10);
  }
}
