import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { create } from "tar";

import { apiVersion } from "../../shared/contract/version.ts";
import { packNpmPackage } from "./npm.ts";
import { writePostmanCollection } from "./postman.ts";
import { writePythonPackage } from "./wheel.ts";

/**
 * Returns the packages that a gateway offers for download, by their file names. They need only Node to build. The Python
 * package is therefore an archive of its sources, from which pip builds it. The gateway fills its brand into the collection.
 */
export async function servedPackages(): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-packages-"));
  try {
    const sources = `sms_gateway-${apiVersion}`;
    await writePythonPackage(path.join(folder, sources));
    const archive = path.join(folder, `${sources}.tar.gz`);
    // The same sources make the same archive, so that a deployment without changes has none.
    await create({ gzip: true, portable: true, mtime: new Date(0), cwd: folder, file: archive }, [sources]);
    const collection = await writePostmanCollection(folder, {
      name: "{{brand.name}}",
      baseUrl: "{{brand.url}}",
    });
    const files = [await packNpmPackage(folder), archive, collection];
    const contents = await Promise.all(
      files.map(async (file): Promise<[string, Buffer]> => [path.basename(file), await readFile(file)]),
    );
    return new Map(contents);
  } finally {
    await rm(folder, { recursive: true });
  }
}
