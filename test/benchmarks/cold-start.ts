import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { build } from "esbuild";
import * as z from "zod/mini";

import { packageOptions } from "../../infra/build/bundled-packages.ts";
import { projectRoot } from "../../infra/build/project-root.ts";
import { median, type Figure, type Suite } from "./figures.ts";
import { readLocalStack } from "./gateway.ts";
import { shortName } from "./meter.ts";

// `npm run bench -- cold-start`: the size of each bundle, and the time of a fresh Node process to load it and to make the
// first call. Its floor is measured in the same run: only the AWS clients of a send.

const Measured = z.object({ importMs: z.number(), importCpuMs: z.number(), firstCallMs: z.number() });
type Measured = z.infer<typeof Measured>;

/** A call without a credential, or of a worker without jobs, ends without AWS. */
const program = `
  const [url] = process.argv.slice(1);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const { handler } = await import(url);
  const importedAt = performance.now();
  const cpu = process.cpuUsage(cpuBefore);
  const http = { method: "GET", path: "/", protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" };
  const event = { version: "2.0", headers: {}, rawPath: "/", rawQueryString: "", isBase64Encoded: false,
    requestContext: { http, requestId: "1", timeEpoch: Date.now() }, Records: [] };
  process.stdout.write = () => true;
  await handler?.(event, { getRemainingTimeInMillis: () => 10_000 }).catch(() => undefined);
  const calledAt = performance.now();
  process.stderr.write(JSON.stringify({
    importMs: importedAt - startedAt, importCpuMs: (cpu.user + cpu.system) / 1000, firstCallMs: calledAt - importedAt }));
  process.exit(0);
`;

/** The AWS clients and commands that a send with an API key needs. */
const floorSource = `
  import { DynamoDb, GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "./shared/platform/aws/dynamodb.ts";
  import { SendMessageBatchCommand, Sqs } from "./shared/platform/aws/sqs.ts";
  export const clients = [new DynamoDb(), new Sqs()];
  export const commands = [SendMessageBatchCommand, GetCommand, PutCommand, TransactWriteCommand, UpdateCommand];
`;

const kilobyte = 1_000;

export const coldStartSuite: Suite = async ({ isQuick }, note) => {
  const { functions } = await readLocalStack();
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-floor-"));
  const floorFile = path.join(folder, "index.mjs");
  await buildFloor(floorFile);
  const figures: Figure[] = [];
  const add = (what: string, value: number, unit: string, atMost?: number): void =>
    void figures.push({
      suite: "cold start",
      what,
      value,
      unit,
      ...(atMost === undefined ? {} : { atMost }),
    });
  const kilobytesOf = async (file: string): Promise<number> => (await stat(file)).size / kilobyte;
  const floor: Loaded = { bundleFile: floorFile, environment: {} };
  for (const { name, bundleFile, environment } of functions) {
    const short = shortName(name);
    const isWatched = watched.has(short);
    if (isQuick && !isWatched) continue;
    note(`cold start: ${short}`);
    const bundle: Loaded = { bundleFile, environment };
    // Alternates with its floor, because the speed of a machine differs from minute to minute.
    const loaded = short === "SendSms" ? [bundle, floor] : [bundle];
    const [measured, ofFloor] = await measure(loaded, isWatched && !isQuick ? 9 : 3);
    if (measured === undefined) throw new Error(`${short} was not measured`);
    if (ofFloor !== undefined) {
      add("floor of SendSms: size", await kilobytesOf(floorFile), "kB");
      add("floor of SendSms: import", ofFloor.importMs, "ms");
      add("floor of SendSms: import, CPU", ofFloor.importCpuMs, "ms");
    }
    add(`${short}: size`, await kilobytesOf(bundleFile), "kB", { SendSms: 230, GetHealth: 40 }[short]);
    add(`${short}: import`, measured.importMs, "ms");
    add(`${short}: import, CPU`, measured.importCpuMs, "ms");
    add(`${short}: first call`, measured.firstCallMs, "ms");
  }
  await rm(folder, { recursive: true });
  return figures;
};

/** Functions that are measured more often than others, and that are enough for a quick run. */
const watched = new Set(["SendSms", "GetHealth", "SendMessage"]);

async function buildFloor(outfile: string): Promise<void> {
  await build({
    stdin: { contents: floorSource, resolveDir: projectRoot },
    absWorkingDir: projectRoot,
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    format: "esm",
    ...packageOptions,
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
}

interface Loaded {
  readonly bundleFile: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Loads bundles alternately, each the given number of times. @returns the medians of each */
async function measure(loaded: readonly Loaded[], repeats: number): Promise<Measured[]> {
  const runs = loaded.map((): Measured[] => []);
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const [index, each] of loaded.entries()) runs[index]?.push(await loadOnce(each));
  }
  return runs.map((ofOne) => ({
    importMs: median(ofOne.map(({ importMs }) => importMs)),
    importCpuMs: median(ofOne.map(({ importCpuMs }) => importCpuMs)),
    firstCallMs: median(ofOne.map(({ firstCallMs }) => firstCallMs)),
  }));
}

async function loadOnce({ bundleFile, environment }: Loaded): Promise<Measured> {
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", program, pathToFileURL(bundleFile).href],
    {
      env: {
        ...environment,
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "none",
        AWS_SECRET_ACCESS_KEY: "none",
        AWS_LAMBDA_FUNCTION_NAME: "benchmark",
      },
    },
  );
  return Measured.parse(JSON.parse(stderr));
}
