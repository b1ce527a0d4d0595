import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Installs Debian's Kannel, unless it is there.
 * @throws Error when it is missing and cannot be installed
 */
export async function setup(): Promise<void> {
  // Debian's folder for it, which is not in every PATH.
  process.env["PATH"] = `${process.env["PATH"] ?? ""}${path.delimiter}/usr/sbin`;
  if (await hasKannel()) return;
  if (process.getuid?.() === 0) {
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = ["install", "-y", "--no-install-recommends", "kannel"];
    await run("apt-get", install, { env: environment }).catch(() => undefined);
  }
  if (!(await hasKannel())) throw new Error("There is no Kannel here: apt-get install kannel");
}

async function hasKannel(): Promise<boolean> {
  return access("/usr/sbin/bearerbox").then(
    () => true,
    () => false,
  );
}
