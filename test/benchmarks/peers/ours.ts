import { openCustomer, sendCall, serveGateway } from "../served-gateway.ts";
import type { Peer, PeerKind } from "./peer.ts";

/** This gateway, as `npm start` runs it, with the carrier of its sandbox. */
export const ours: PeerKind = {
  name: "this gateway",
  guarantee: "an accepted message is paid, in the ledger, and in the table and a queue on the disk",
  start: startOurs,
};

async function startOurs(): Promise<Peer> {
  const gateway = await serveGateway();
  const { authorization, client } = await openCustomer(gateway.url);
  return {
    call: () => sendCall(gateway, authorization),
    delivered: async () => (await client.getDashboardStats()).today.sent,
    usage: async () => gateway.usage(),
    stop: async () => gateway.stop(),
  };
}
