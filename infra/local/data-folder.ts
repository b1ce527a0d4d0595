import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { connectionsFile } from "./connections.ts";

/** The file of the local store. SQLite gives its mode to the two files beside it. */
export const storeFile = "aws.sqlite";

/** The folder of the objects. */
export const documentsFolder = "documents";

const files = [
  storeFile,
  `${storeFile}-shm`,
  `${storeFile}-wal`,
  connectionsFile,
  "operator-secrets.json",
  "secrets.json",
  "stripe.json",
];

/**
 * Makes a folder for data, which git and the project's checks ignore. Only its user may read the files, those of an earlier
 * release too.
 */
export async function makeDataFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  // A folder that existed before may have other files.
  if (made !== undefined) await writeFile(path.join(folder, ".gitignore"), "*\n");
  await writeFile(path.join(folder, storeFile), "", { flag: "a", mode: 0o600 });
  for (const name of files) await makePrivate(path.join(folder, name), 0o600);
  await makePrivate(path.join(folder, documentsFolder), 0o700);
}

async function makePrivate(file: string, mode: number): Promise<void> {
  await chmod(file, mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
