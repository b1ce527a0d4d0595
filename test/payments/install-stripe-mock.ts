import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { projectRoot } from "../../infra/build/project-root.ts";

/** Its OpenAPI document is that of Stripe's version 2026-08-26. */
const version = "v0.203.0";

const folder = path.join(projectRoot, ".build", "stripe-mock", version);

/** The program of Stripe that checks requests against Stripe's own OpenAPI document. */
export const stripeMockFile = path.join(folder, "stripe-mock");

/**
 * Builds stripe-mock, unless this version is there.
 * @throws Error when it is missing and cannot be built
 */
export async function setup(): Promise<void> {
  if (await exists(stripeMockFile)) return;
  // The usual folder of Go, which is not in every PATH.
  const PATH = `${process.env["PATH"] ?? ""}${path.delimiter}/usr/local/go/bin`;
  const env = { ...process.env, PATH, GOBIN: folder };
  try {
    await promisify(execFile)("go", ["install", `github.com/stripe/stripe-mock@${version}`], { env });
  } catch (error) {
    throw new Error("stripe-mock cannot be built, which needs Go: https://go.dev/doc/install", {
      cause: error,
    });
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
