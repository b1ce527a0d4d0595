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

/** By MCC and MNC, such as `23415`. Some countries share a code. */
let networks: ReadonlyMap<string, readonly Network[]> | undefined;

function readNetworks(): ReadonlyMap<string, readonly Network[]> {
  if (networks !== undefined) return networks;
  const all = readFileSync(path.join(import.meta.dirname, "networks.txt"), "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [country = "", prefixes = "", codes = ""] = line.split("|");
      const network = { country, prefixes: prefixes.split(" ").filter(Boolean) };
      return codes.split(" ").map((code) => ({ code, network }));
    });
  networks = new Map(
    [...Map.groupBy(all, ({ code }) => code)].map(([code, each]) => [
      code,
      each.map(({ network }) => network),
    ]),
  );
  return networks;
}

/**
 * Returns the published prefixes of a network in a country; none if there are none, or the code is that of another country. Codes of the
 * same network return the same array.
 */
export function prefixesOfNetwork(country: string, network: string): readonly string[] {
  const found = readNetworks()
    .get(network)
    ?.find((each) => each.country === country);
  return found?.prefixes ?? noPrefixes;
}

const noPrefixes: readonly string[] = [];

/**
 * Returns the country of a network (ITU E.212). Where countries share its code, or without a network, it is the country with the most
 * networks of the MCC. Undefined if none has it.
 */
export function countryOfNetwork(mcc: string, network?: string): string | undefined {
  if (mcc === "") return undefined;
  const [only, ...others] = network === undefined ? [] : (readNetworks().get(network) ?? []);
  if (only !== undefined && others.length === 0) return only.country;
  const counts = new Map<string, number>();
  for (const [code, all] of readNetworks()) {
    if (!code.startsWith(mcc)) continue;
    for (const { country } of all) counts.set(country, (counts.get(country) ?? 0) + 1);
  }
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}
