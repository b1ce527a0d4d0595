import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { build } from "esbuild";
import * as z from "zod";

import { packageOptions } from "../../infra/bundle.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { readStack } from "../../infra/local/template.ts";
import { projectRoot } from "../../infra/project-root.ts";
import { median, type Figure, type Suite } from "./figures.ts";
import { shortName } from "./meter.ts";

// `npm run bench -- cold-start`: the size of each bundle, and the time that a fresh Node process takes to load it and for
// the first call, beside its floor: the AWS clients of a send alone, in the same run.

const Measured = z.object({ importMs: z.number(), firstCallMs: z.number() });
type Measured = z.infer<typeof Measured>;

/** A call without a credential, or of a worker without jobs, comes to its end without AWS. */
const program = `
  const [url] = process.argv.slice(1);
  const startedAt = performance.now();
  const { handler } = await import(url);
  const importedAt = performance.now();
  const http = { method: "GET", path: "/", protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" };
  const event = { version: "2.0", headers: {}, rawPath: "/", rawQueryString: "", isBase64Encoded: false,
    requestContext: { http, requestId: "1", timeEpoch: Date.now() }, Records: [] };
  process.stdout.write = () => true;
  await handler?.(event, { getRemainingTimeInMillis: () => 10_000 }).catch(() => undefined);
  const calledAt = performance.now();
  process.stderr.write(JSON.stringify({ importMs: importedAt - startedAt, firstCallMs: calledAt - importedAt }));
  process.exit(0);
`;

/** The clients that a send with an API key cannot do without, as it makes them. */
const floorSource = `
  import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
  import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
  import { DynamoDBDocumentClient, GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
  DynamoDBDocumentClient.from(new DynamoDBClient({}));
  new SQSClient({});
  export const commands = [SendMessageBatchCommand, GetCommand, PutCommand, TransactWriteCommand, UpdateCommand];
`;

const kilobyte = 1_000;

/** Nothing listens there. */
const nowhere = "http://127.0.0.1:9";

export const coldStartSuite: Suite = async ({ isQuick }, note) => {
  const { assemblyFolder, stackName } = await synthesizeLocalStack();
  const { functions } = await readStack(assemblyFolder, stackName, { aws: nowhere, api: nowhere });
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-floor-"));
  const floorFile = path.join(folder, "index.mjs");
  await buildFloor(floorFile);
  const repeats = isQuick ? 3 : 9;
  const quickOnes = new Set(["SendSms", "GetHealth", "SendMessage"]);
  const floor = await measure(floorFile, {}, repeats);
  const floorBytes = (await stat(floorFile)).size;
  const figures: Figure[] = [
    { suite: "cold start", what: "floor of SendSms: size", value: floorBytes / kilobyte, unit: "kB" },
    { suite: "cold start", what: "floor of SendSms: import", value: floor.importMs, unit: "ms" },
  ];
  for (const { name, bundleFile, environment } of functions) {
    const short = shortName(name);
    if (isQuick && !quickOnes.has(short)) continue;
    note(`cold start: ${short}`);
    const { importMs, firstCallMs } = await measure(bundleFile, environment, repeats);
    const bytes = (await stat(bundleFile)).size;
    const add = (what: string, value: number, unit: string, atMost?: number): void =>
      void figures.push({
        suite: "cold start",
        what: `${short}: ${what}`,
        value,
        unit,
        ...(atMost === undefined ? {} : { atMost }),
      });
    add("size", bytes / kilobyte, "kB", { SendSms: 300, GetHealth: 40 }[short]);
    add("import", importMs, "ms", short === "SendSms" ? 1.3 * floor.importMs : undefined);
    add("first call", firstCallMs, "ms");
  }
  await rm(folder, { recursive: true });
  return figures;
};

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

async function measure(
  bundleFile: string,
  environment: Readonly<Record<string, string>>,
  repeats: number,
): Promise<Measured> {
  const runs: Measured[] = [];
  while (runs.length < repeats) {
    const url = pathToFileURL(bundleFile).href;
    const { stderr } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", program, url],
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
    runs.push(Measured.parse(JSON.parse(stderr)));
  }
  return {
    importMs: median(runs.map(({ importMs }) => importMs)),
    firstCallMs: median(runs.map(({ firstCallMs }) => firstCallMs)),
  };
}
