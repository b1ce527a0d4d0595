import { once } from "node:events";
import type { Server } from "node:net";

import * as smpp from "smpp";

import { freePort } from "../support/ports.ts";

/** A part of a message as the carrier received it. */
interface ReceivedPart {
  /** The carrier's id of it. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** 0 is the alphabet of the carrier, 8 is UCS-2 (SMPP 3.4, 5.2.19). */
  readonly coding: number;
  readonly wantsReceipt: boolean;
  /** The number of the part in a message of several parts, from 1. */
  readonly part: number | undefined;
}

/** ESME_RINVDSTADR: the number does not exist (SMPP 3.4, 5.1.3). */
const invalidDestination = 0x0b;

/** esm_class of a receipt (SMPP 3.4, 5.2.12). */
const hasHeader = 0x40;
const receiptClass = 0x04;

/** Numbers that the carrier rejects. */
export const rejectedNumber = "15005550404";

/** A carrier that speaks SMPP, and sends nothing. */
export class Smsc {
  readonly port: number;
  readonly received: ReceivedPart[] = [];
  /** Whether it sends a receipt for each message that requests one. */
  sendsReceipts = false;
  #server: Server | undefined;
  readonly #sessions = new Set<smpp.Session>();

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<Smsc> {
    const smsc = new Smsc(await freePort());
    await smsc.connect();
    return smsc;
  }

  /** Accepts connections, at the same port as before. */
  async connect(): Promise<void> {
    const server = smpp.createServer((session) => this.#serve(session));
    this.#server = server;
    server.listen(this.port, "127.0.0.1");
    await once(server, "listening");
  }

  /** Cuts all connections, and accepts no others. */
  async disconnect(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const session of this.#sessions) session.destroy();
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    await closed;
  }

  /** Whether a client is connected that can receive. */
  get isConnected(): boolean {
    return this.#sessions.size > 0;
  }

  /** Sends the receipt of a message. */
  async sendReceipt({ id, from, to }: ReceivedPart, state: "DELIVRD" | "EXPIRED" | "UNDELIV"): Promise<void> {
    const text = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010001 stat:${state} err:000 text:`;
    await this.#deliver({
      source_addr: to,
      destination_addr: from,
      esm_class: receiptClass,
      short_message: text,
    });
  }

  /** Sends a message from a phone. */
  async bring(message: { readonly from: string; readonly to: string; readonly text: string }): Promise<void> {
    await this.#deliver({
      source_addr: message.from,
      destination_addr: message.to,
      data_coding: 8,
      short_message: { message: Buffer.from(message.text, "utf16le").swap16() },
    });
  }

  /** Sends one part of a long message from a phone. All its parts have the same reference. */
  async bringPart(
    message: { readonly from: string; readonly to: string; readonly text: string },
    { reference, total, part }: Readonly<Record<"part" | "reference" | "total", number>>,
  ): Promise<void> {
    await this.#deliver({
      source_addr: message.from,
      destination_addr: message.to,
      esm_class: hasHeader,
      data_coding: 8,
      short_message: {
        udh: Buffer.from([5, 0, 3, reference, total, part]),
        message: Buffer.from(message.text, "utf16le").swap16(),
      },
    });
  }

  async #deliver(fields: Readonly<Record<string, unknown>>): Promise<void> {
    const [session] = this.#sessions;
    if (session === undefined) throw new Error("no client is connected to the carrier");
    await new Promise<void>((resolve) => {
      session.deliver_sm(fields, () => resolve());
    });
  }

  #serve(session: smpp.Session): void {
    session.on("error", () => session.destroy());
    session.on("close", () => this.#sessions.delete(session));
    session.on("bind_transceiver", (pdu: smpp.Pdu) => {
      session.send(pdu.response());
      this.#sessions.add(session);
    });
    session.on("enquire_link", (pdu: smpp.Pdu) => session.send(pdu.response()));
    session.on("unbind", (pdu: smpp.Pdu) => session.send(pdu.response()));
    session.on("submit_sm", (pdu: smpp.Pdu) => {
      if (pdu.destination_addr === rejectedNumber) {
        session.send(pdu.response({ command_status: invalidDestination }));
        return;
      }
      const part = this.#take(pdu);
      session.send(pdu.response({ message_id: part.id }));
      if (this.sendsReceipts && part.wantsReceipt)
        void this.sendReceipt(part, "DELIVRD").catch(() => undefined);
    });
  }

  #take(pdu: smpp.Pdu): ReceivedPart {
    const { message, udh } = pdu.short_message;
    const part = {
      id: `smsc-${this.received.length + 1}`,
      from: pdu.source_addr,
      to: pdu.destination_addr,
      text: typeof message === "string" ? message : message.toString("latin1"),
      coding: pdu.data_coding,
      wantsReceipt: (pdu.registered_delivery & 1) === 1,
      // The information element of a part: its name, its length, then the message, the number of parts, and the part.
      part: udh?.find(([name]) => name === 0)?.[4],
    };
    this.received.push(part);
    return part;
  }
}
