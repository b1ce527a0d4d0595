import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// Runs the TypeScript samples that it reads the names of, and writes what each prints as one line.

const write = process.stdout.write.bind(process.stdout);
for await (const line of createInterface({ input: process.stdin })) {
  const { file, environment } = JSON.parse(line);
  Object.assign(process.env, environment);
  let printed = "";
  process.stdout.write = (chunk) => {
    printed += chunk;
    return true;
  };
  await import(pathToFileURL(file).href);
  write(`${JSON.stringify(printed)}\n`);
}
