import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { packNpmPackage } from "./npm.ts";
import { writePostmanCollection } from "./postman.ts";
import { writeWheel } from "./wheel.ts";

/**
 * Returns the packages that a gateway offers for download, by their file names. They need only Node to build. The gateway
 * fills its brand into the collection.
 */
export async function servedPackages(): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-packages-"));
  try {
    const collection = await writePostmanCollection(folder, {
      name: "{{brand.name}}",
      baseUrl: "{{brand.url}}",
    });
    const files = [await packNpmPackage(folder), await writeWheel(folder), collection];
    const contents = await Promise.all(
      files.map(async (file): Promise<[string, Buffer]> => [path.basename(file), await readFile(file)]),
    );
    return new Map(contents);
  } finally {
    await rm(folder, { recursive: true });
  }
}
