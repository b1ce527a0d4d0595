import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { freePort, listenOnLoopback, waitForPort } from "../../infra/local/loopback.ts";
import type { Figure, Suite } from "./figures.ts";
import { load, type HttpCall } from "./http-load.ts";
import { openCustomer, serveGateway } from "./served-gateway.ts";

/*
 * `npm run bench -- peers`: what people would pick instead, in the same run, on the same machine and with the same client.
 * An accepted message is with us debited, recorded and queued on the disk; with Kannel it is in its spool of files; with
 * Jasmin in RabbitMQ. Neither of the others has a ledger.
 */

const startTimeoutMs = 20_000;
const deliveryTimeoutMs = 120_000;

/** Something that takes messages over HTTP. */
interface Peer {
  readonly call: () => HttpCall;
  stop(): Promise<void>;
}

export const peersSuite: Suite = async ({ isQuick }, note) => {
  const figures: Figure[] = [];
  for (const [name, start] of Object.entries({ "this gateway": startOurs, Kannel: startKannel })) {
    const peer = await start();
    if (peer === undefined) {
      note(`peers: ${name} is not installed here, and was not measured`);
      continue;
    }
    await load(peer.call, { connections: 16, durationMs: 1_000 });
    for (const connections of isQuick ? [16] : [1, 16, 64]) {
      note(`peers: ${name} on ${connections}`);
      const { perSecond } = await load(peer.call, { connections, durationMs: isQuick ? 2_000 : 8_000 });
      figures.push({
        suite: "peers",
        what: `${name}: accepted, ${connections} connections`,
        value: perSecond,
        unit: "messages/s",
      });
    }
    await peer.stop();
  }
  const jasmin = await isInstalled("jasmind.py");
  note(
    jasmin
      ? "peers: Jasmin is installed here, but needs a RabbitMQ and a Redis that this does not start: it was not measured"
      : "peers: Jasmin is not installed here, and was not measured",
  );
  return figures;
};

async function startOurs(): Promise<Peer> {
  const gateway = await serveGateway();
  const { authorization } = await openCustomer(gateway.url);
  return {
    call: () => ({
      method: "POST",
      url: `${gateway.url}/v1/sms/send`,
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" }),
    }),
    stop: async () => gateway.stop(),
  };
}

/** Kannel with its spool on the disk, and a carrier over HTTP that takes everything. */
async function startKannel(): Promise<Peer | undefined> {
  if (!(await isInstalled("bearerbox")) || !(await isInstalled("smsbox"))) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "kannel-bench-"));
  const spool = path.join(folder, "spool");
  await mkdir(spool);
  const counts = { accepted: 0, taken: 0 };
  const carrier = createServer((request, response) => {
    request.resume();
    counts.taken += 1;
    response.writeHead(202).end("0: Accepted for delivery");
  });
  const carrierPort = await listenOnLoopback(carrier);
  const [adminPort, boxPort, smscPort, sendPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const configuration = path.join(folder, "kannel.conf");
  await writeFile(
    configuration,
    [
      `group = core\nadmin-port = ${adminPort}\nadmin-password = bench\nsmsbox-port = ${boxPort}`,
      `admin-interface = 127.0.0.1\nsmsbox-interface = 127.0.0.1\nbox-deny-ip = "*.*.*.*"\nbox-allow-ip = 127.0.0.1`,
      `store-type = spool\nstore-location = ${spool}\nlog-level = 3\n`,
      `group = smsc\nsmsc = http\nsmsc-id = bench\nsystem-type = kannel\nsmsc-username = a\nsmsc-password = b`,
      `port = ${smscPort}\nconnect-allow-ip = 127.0.0.1\nsend-url = http://127.0.0.1:${carrierPort}/send\n`,
      `group = smsbox\nbearerbox-host = 127.0.0.1\nbearerbox-port = ${boxPort}`,
      `sendsms-port = ${sendPort}\nsendsms-interface = 127.0.0.1\nlog-level = 3\n`,
      `group = sendsms-user\nusername = bench\npassword = bench\nconcatenation = true\nmax-messages = 3\n`,
      `group = sms-service\nkeyword = default\ntext = "none"\n`,
    ].join("\n"),
  );
  const boxes: ChildProcess[] = [];
  const run = async (program: string, port: number): Promise<void> => {
    boxes.unshift(spawn(program, ["-v", "4", configuration], { stdio: "ignore" }));
    await waitForPort(port, startTimeoutMs);
  };
  await run("bearerbox", boxPort);
  await run("smsbox", sendPort);
  return {
    call: () => {
      counts.accepted += 1;
      const query = "username=bench&password=bench&to=15005550000&from=ADASHOP&text=Your+code+is+123456";
      return { method: "GET", url: `http://127.0.0.1:${sendPort}/cgi-bin/sendsms?${query}` };
    },
    stop: async () => {
      const deadline = performance.now() + deliveryTimeoutMs;
      while (counts.taken < counts.accepted && performance.now() < deadline) await delay(50);
      for (const box of boxes) {
        const exited = once(box, "exit");
        box.kill("SIGTERM");
        await exited;
      }
      carrier.close();
      carrier.closeAllConnections();
      await rm(folder, { recursive: true });
    },
  };
}

async function isInstalled(program: string): Promise<boolean> {
  return promisify(execFile)("which", [program]).then(
    () => true,
    () => false,
  );
}
