import { readFileSync } from "node:fs";
import path from "node:path";

/*
 * The mobile networks of the world and their prefixes: see `networks-table.ts`. Where numbers move between networks, a prefix shows only the
 * first network of a number. So prefixes are good for shares, and not for the network of one number.
 */

interface Network {
  readonly country: string;
  /** The first digits of its numbers; none if they are not published. */
  readonly prefixes: readonly string[];
}

/** By MCC and MNC, such as `23415`, and by MCC alone for the country. */
let networks: ReadonlyMap<string, Network> | undefined;

function readNetworks(): ReadonlyMap<string, Network> {
  networks ??= new Map(
    readFileSync(path.join(import.meta.dirname, "networks.txt"), "utf8")
      .trim()
      .split("\n")
      .flatMap((line) => {
        const [country = "", prefixes = "", codes = ""] = line.split("|");
        const network = { country, prefixes: prefixes.split(" ").filter(Boolean) };
        return codes
          .split(" ")
          .flatMap((code) => [[code, network] as const, [code.slice(0, 3), network] as const]);
      }),
  );
  return networks;
}

/** Returns the published prefixes of a network of a country; none if there are none, or the codes are those of another country. */
export function prefixesOfNetwork(country: string, mcc: string, mnc: string): readonly string[] {
  const network = readNetworks().get(`${mcc}${mnc}`);
  return network?.country === country ? network.prefixes : [];
}

/** Returns the country with an MCC (ITU E.212); undefined if none has it. */
export function countryOfNetwork(mcc: string): string | undefined {
  return mcc === "" ? undefined : readNetworks().get(mcc)?.country;
}
