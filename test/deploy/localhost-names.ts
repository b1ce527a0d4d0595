import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

// All names under localhost lead to the machine itself (RFC 6761), but not every resolver knows. The emulator gives
// each API such a name. Processes that call one load this file before all others.

const { lookup } = dns;

function lookupLocalhost(hostname: string, ...rest: unknown[]): void {
  Reflect.apply(lookup, dns, [hostname.endsWith(".localhost") ? "127.0.0.1" : hostname, ...rest]);
}

Object.assign(dns, { lookup: lookupLocalhost });
syncBuiltinESMExports();
