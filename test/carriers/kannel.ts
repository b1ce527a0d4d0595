import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { vi } from "vitest";

import { patience } from "../support/patience.ts";
import { freePort } from "../support/ports.ts";

/** The gateway's user at Kannel. */
export const kannelCredentials = { username: "bridge", password: "over-troubled-water" };

/** The prefix of numbers that no link of Kannel accepts. */
export const unroutablePrefix = "1500777";

export interface KannelSettings {
  /** The port of its sendsms interface. */
  readonly sendsmsPort: number;
  /** The port of the carrier that it binds to. */
  readonly smscPort: number;
  /** The address that messages from phones are reported to. */
  readonly inboundUrl: string;
}

/** Debian's Kannel: a bearerbox and an smsbox, with a spool folder. */
export class Kannel {
  readonly #folder: string;
  readonly #ports: Ports;
  #boxes: ChildProcess[] = [];

  private constructor(folder: string, ports: Ports) {
    this.#folder = folder;
    this.#ports = ports;
  }

  static async start(settings: KannelSettings): Promise<Kannel> {
    const folder = await mkdtemp(path.join(tmpdir(), "kannel-"));
    const ports = { admin: await freePort(), smsbox: await freePort(), sendsms: settings.sendsmsPort };
    for (const name of ["store", "dlr"]) await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, "kannel.conf"), configuration(folder, ports, settings));
    const kannel = new Kannel(folder, ports);
    await kannel.run();
    return kannel;
  }

  /** Starts both boxes with their spool. */
  async run(): Promise<void> {
    await this.#startBox("bearerbox", this.#ports.smsbox);
    await this.#startBox("smsbox", this.#ports.sendsms);
  }

  /** Kills both boxes, as a machine does that loses its power. */
  async kill(): Promise<void> {
    for (const box of this.#boxes.splice(0)) {
      const ended = once(box, "exit");
      box.kill("SIGKILL");
      await ended;
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true });
  }

  async #startBox(name: string, port: number): Promise<void> {
    const log = await open(path.join(this.#folder, `${name}.log`), "a");
    const box = spawn(name, ["-v", "1", path.join(this.#folder, "kannel.conf")], {
      stdio: ["ignore", log.fd, log.fd],
    });
    await log.close();
    this.#boxes.unshift(box);
    await vi.waitFor(async () => {
      if (box.exitCode !== null) throw new Error(`${name} has ended: see ${this.#folder}`);
      await isOpen(port);
    }, patience);
  }
}

interface Ports {
  readonly admin: number;
  readonly smsbox: number;
  readonly sendsms: number;
}

/** @throws Error when no process listens there */
async function isOpen(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

/** The configuration in the README of the carriers, except the ports and the denied prefix. */
function configuration(folder: string, ports: Ports, { smscPort, inboundUrl }: KannelSettings): string {
  const { username, password } = kannelCredentials;
  const replyFields = "&from=%p&to=%P&text=%b&charset=%C&id=%I";
  return `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = change-me
status-password = change-me
smsbox-port = ${ports.smsbox}
smsbox-interface = 127.0.0.1
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
store-type = spool
store-location = "${folder}/store"
dlr-storage = spool
dlr-spool = "${folder}/dlr"
sms-resend-freq = 10

group = smsc
smsc = smpp
smsc-id = carrier
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = gateway
smsc-password = secret
system-type = ""
reconnect-delay = 1
dest-addr-ton = 1
dest-addr-npi = 1
denied-prefix = "+${unroutablePrefix}"

group = smsbox
smsbox-id = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${ports.sendsms}
sendsms-interface = 127.0.0.1
sendsms-chars = "0123456789+"
mo-recode = true
http-request-retry = 10
http-queue-delay = 1

group = smsbox-route
smsbox-id = smsbox
smsc-id = carrier

group = sendsms-user
username = ${username}
password = ${password}
user-deny-ip = "*.*.*.*"
user-allow-ip = "127.0.0.1"
max-messages = 49
concatenation = true

group = sms-service
keyword = default
catch-all = true
max-messages = 0
get-url = "${inboundUrl}${replyFields}"
`;
}
