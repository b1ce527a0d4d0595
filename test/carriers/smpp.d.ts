/** The part of the package `smpp`, which has no types of its own, that the tests use. */
declare module "smpp" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer } from "node:net";

  export interface Pdu {
    readonly source_addr: string;
    readonly destination_addr: string;
    readonly data_coding: number;
    readonly registered_delivery: number;
    readonly short_message: { readonly message: string | Buffer; readonly udh?: readonly Buffer[] };
    response(fields?: Readonly<Record<string, unknown>>): Pdu;
  }

  export interface Session extends EventEmitter {
    send(pdu: Pdu): boolean;
    deliver_sm(fields: Readonly<Record<string, unknown>>, answered: (pdu: Pdu) => void): boolean;
    destroy(): void;
  }

  export function createServer(listener: (session: Session) => void): NetServer;
}
