import { glob, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

import { countryOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";

/*
 * `npm run networks -- FOLDER FILE` writes `networks.txt`: the prefixes of the mobile networks of the world. The
 * folder is `resources/carrier/en` of libphonenumber (Apache 2.0), with the names of networks by prefix. The file is the JSON of the
 * package mcc-mnc-list (MIT), with the names of networks by their codes (ITU E.212). A network has the prefixes of its name.
 */

const Networks = z.array(
  z.object({
    countryCode: z.nullable(z.string()),
    mcc: z.string(),
    mnc: z.nullable(z.string()),
    brand: z.nullable(z.string()),
    operator: z.nullable(z.string()),
    status: z.string(),
  }),
);

/** The digits of any number with a prefix, of which only the first ones count. */
const digitsOfNumber = 11;

/** From this length on, the beginning of a name identifies it. */
const beginningLength = 3;

const [folder = "", file = ""] = process.argv.slice(2);
const prefixes = await prefixesByName(folder);
/** The networks of each country with the same prefixes, such as `23430`. */
const networks = new Map<string, string[]>();
for (const { countryCode, mcc, mnc, brand, operator, status } of Networks.parse(
  JSON.parse(await readFile(file, "utf8")),
)) {
  const country = countryCode?.slice(0, 2) ?? "";
  if (!/^[A-Z]{2}$/.test(country) || mnc === null || status !== "Operational") continue;
  const names = [brand, operator, ...(brand ?? "").split(/[/,]/)].map(simplified).filter(Boolean);
  const found = [...(prefixes.get(country) ?? [])].filter(([name]) =>
    names.some((each) => isSame(name, each)),
  );
  const line = `${country}|${shortened(found.flatMap(([, ofName]) => ofName)).join(" ")}`;
  networks.set(line, [...(networks.get(line) ?? []), `${mcc}${mnc}`]);
}
const lines = [...networks].map(([line, codes]) => `${line}|${[...new Set(codes)].toSorted().join(" ")}`);
await writeFile(path.join(import.meta.dirname, "networks.txt"), `${lines.toSorted().join("\n")}\n`);

/** Returns the prefixes of each country by the simplified names of networks. */
async function prefixesByName(from: string): Promise<Map<string, Map<string, string[]>>> {
  const byCountry = new Map<string, Map<string, string[]>>();
  for await (const name of glob("*.txt", { cwd: from })) {
    for (const line of (await readFile(path.join(from, name), "utf8")).split("\n")) {
      const [, prefix = "", network = ""] = /^(\d+)\|(.+)$/.exec(line) ?? [];
      const country = countryOfNumber(prefix.padEnd(digitsOfNumber, "2"));
      if (country === undefined) continue;
      const names = byCountry.get(country) ?? new Map<string, string[]>();
      byCountry.set(country, names);
      names.set(simplified(network), [...(names.get(simplified(network)) ?? []), prefix]);
    }
  }
  return byCountry;
}

function simplified(name: string | null): string {
  return (name ?? "")
    .toLowerCase()
    .replace(/\(.*?\)/g, "")
    .replaceAll(/[^\p{L}\d]/gu, "");
}

function isSame(one: string, other: string): boolean {
  const [short = "", long = ""] = [one, other].toSorted((a, b) => a.length - b.length);
  return short === long || (short.length >= beginningLength && long.startsWith(short));
}

/** Returns prefixes with the shorter one in place of all ten that begin with it, in order. */
function shortened(all: readonly string[]): string[] {
  const set = new Set(all);
  const lengths = [...new Set(all.map(({ length }) => length))].toSorted((one, other) => other - one);
  for (let length = lengths[0] ?? 0; length > 1; length -= 1) {
    for (const [start, ofStart] of Map.groupBy(
      [...set].filter((each) => each.length === length),
      (each) => each.slice(0, -1),
    )) {
      if (ofStart.length < 10) continue;
      for (const each of ofStart) set.delete(each);
      set.add(start);
    }
  }
  return [...set].toSorted();
}
