import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { listenOnLoopback } from "../../../infra/local/loopback.ts";
import { freePort, waitForPort } from "../../support/ports.ts";
import { message } from "../served-gateway.ts";
import { startTimeoutMs, type Peer, type PeerKind } from "./peer.ts";
import { Programs, requirePrograms } from "./programs.ts";

/** Debian's Kannel with its spool on the disk, and a carrier over HTTP that accepts all messages. */
export const kannel: PeerKind = {
  name: "Kannel",
  guarantee: "an accepted message is in its spool of files, which it does not sync; there is no ledger",
  start: startKannel,
};

async function startKannel(): Promise<Peer> {
  await requirePrograms("bearerbox", "smsbox");
  const folder = await mkdtemp(path.join(tmpdir(), "kannel-bench-"));
  const spool = path.join(folder, "spool");
  await mkdir(spool);
  let delivered = 0;
  const carrier = createServer((request, response) => {
    request.resume();
    delivered += 1;
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
  const programs = new Programs();
  programs.start("bearerbox", ["-v", "4", configuration]);
  await waitForPort(boxPort, startTimeoutMs);
  programs.start("smsbox", ["-v", "4", configuration]);
  await waitForPort(sendPort, startTimeoutMs);
  const { to, senderId: from, message: text } = message;
  const query = new URLSearchParams({ username: "bench", password: "bench", to, from, text });
  return {
    call: () => ({ method: "GET", url: `http://127.0.0.1:${sendPort}/cgi-bin/sendsms?${query.toString()}` }),
    delivered: async () => delivered,
    usage: async () => programs.usage(),
    stop: async () => {
      await programs.stop();
      carrier.close();
      carrier.closeAllConnections();
      await rm(folder, { recursive: true });
    },
  };
}
