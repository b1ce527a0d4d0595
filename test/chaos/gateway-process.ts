import { startLocalGateway } from "../../infra/local/gateway.ts";
import type { KilledGatewayOptions } from "./killed-gateway.ts";

/*
 * The code of a process with a gateway as `npm start` runs it. It notifies its parent when it is ready, writes the
 * gateway's log, and ends with its parent.
 */

const options: KilledGatewayOptions = JSON.parse(process.argv[2] ?? "");
process.once("disconnect", () => process.exit(1));
await startLocalGateway({ ...options, log: (line) => void process.stdout.write(`${line}\n`) });
process.send?.("ready");
