import { afterEach } from "vitest";

/*
 * Shows the log lines of a test only if it fails. A worker runs several files, so it replaces the stream's function once.
 */

declare global {
  var heldLogLines: string[] | undefined;
}

const lines = (globalThis.heldLogLines ??= holdLines());

function holdLines(): string[] {
  const held: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array, ...others: never[]): boolean => {
    if (typeof chunk !== "string" || !chunk.startsWith('{"level":')) return write(chunk, ...others);
    held.push(chunk);
    return true;
  };
  return held;
}

afterEach(({ task }) => {
  if (task.result?.state === "fail") process.stderr.write(lines.join(""));
  lines.length = 0;
});
