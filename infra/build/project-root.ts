import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project. */
export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the folder with the data of the local gateway. A blank one would be the project's folder. */
export function dataFolderSetting(): string {
  const { DATA_DIR = "" } = process.env;
  return path.resolve(projectRoot, DATA_DIR.trim() === "" ? ".local" : DATA_DIR);
}
