import { existsSync, renameSync, writeFileSync } from "node:fs";
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

import { connectionsFile, findConnections } from "./connections.ts";

/** The file of the local store. SQLite gives its mode to the two files beside it. */
export const storeFile = "aws.sqlite";

/** The folder of the objects. */
export const documentsFolder = "documents";

const lockFile = "lock.sqlite";

const files = [
  storeFile,
  `${storeFile}-shm`,
  `${storeFile}-wal`,
  connectionsFile,
  "operator-secrets.json",
  "operator-secrets.json.new",
  "secrets.json",
  "secrets.json.new",
  "stripe.json",
  "stripe.json.new",
];

/** The code of SQLite for a lock that another connection has. */
const busyCode = 5;

/** A data folder that no other gateway can use. */
interface DataFolderLock {
  stop(): Promise<void>;
}

/**
 * Makes a folder for data, unless it exists, and locks it. SQLite's lock ends with the process, however that ends.
 * @throws Error when another gateway runs on the folder
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  // Git and the project's checks ignore it. A folder that existed before may have other files.
  if (made !== undefined) await writeFile(path.join(folder, ".gitignore"), "*\n");
  const lock = new DatabaseSync(path.join(folder, lockFile), { timeout: 0 });
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    const isTaken = error instanceof Error && "errcode" in error && error.errcode === busyCode;
    const file = path.join(folder, lockFile);
    if (!isTaken)
      throw new Error(`${file}: ${String(error)}. Move it away: it has no data.`, { cause: error });
    const address = (await findConnections(folder))?.url;
    throw new Error(
      `The gateway${address === undefined ? "" : ` on ${address}`} already uses the data in ${folder}: ` +
        "stop it, or choose another folder and port: DATA_DIR=.local-2 PORT=3001 npm start",
      { cause: error },
    );
  }
  return { stop: async () => lock.close() };
}

/**
 * Parses a file of data in JSON.
 * @throws Error that names the file and quotes nothing, because it may have secrets
 */
export function parsedData(content: string, file: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new Error(`${file} is damaged: restore it, or delete all data with npm start -- --fresh`);
  }
}

/** Replaces a file of data. A crash leaves it as it was before, or as it is after. */
export function replaceData(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Deletes what gateways have written into a folder, and nothing else. */
export async function deleteData(folder: string): Promise<void> {
  for (const name of files) await rm(path.join(folder, name), { force: true });
  const documents = path.join(folder, documentsFolder);
  if (!existsSync(documents)) return;
  // Each organization has a folder. Others are not from a gateway.
  for (const name of await readdir(documents)) {
    if (name.startsWith("org_")) await rm(path.join(documents, name), { recursive: true });
  }
}

/** Lets only the user of this process read the files, those of an earlier release too. */
export async function makeDataPrivate(folder: string): Promise<void> {
  await writeFile(path.join(folder, storeFile), "", { flag: "a", mode: 0o600 });
  for (const name of [lockFile, ...files]) await makePrivate(path.join(folder, name), 0o600);
  await makePrivate(path.join(folder, documentsFolder), 0o700);
}

async function makePrivate(file: string, mode: number): Promise<void> {
  await chmod(file, mode).catch(ifMissing(undefined));
}

/** Returns a function that catches the error of a missing file, and returns a value instead. */
export function ifMissing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}
