import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import * as z from "zod";

import { environmentNames } from "../../shared/platform/config.ts";
import { auditWallet, type Audit } from "../../shared/reconciliation/audit.ts";
import { listWallets } from "../../shared/wallet/wallet.ts";
import { projectRoot } from "../bundle.ts";
import { endpointsFile } from "../local/gateway.ts";

// `npm run operator -- <command>`: what only the operator of a gateway may do.

const help = `Usage: npm run operator -- audit [organisation …] [options]

Proves that wallets are in order: every seq of the ledger has its entry, each balance follows from the one
before, the last is the wallet's, and every paid message exists at that price. Without organisations it audits
all wallets. Exits with 1 when anything is wrong.

Options:
  --table NAME  the table of a deployed stage (its TableName output), with AWS credentials in the environment;
                without it the gateway that runs on this machine
  --json        one JSON object a line instead of text
  --help        this text`;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { table: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
});
const [command, ...organizationIds] = positionals;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

if (flags.help === true) {
  print(help);
} else if (command === "audit") {
  await run(async () => {
    await useTable(flags.table);
    await audit();
  });
} else {
  process.stderr.write(`${help}\n`);
  process.exitCode = 2;
}

/** Runs a command; what goes wrong is told in one line, without a stack. */
async function run(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

async function audit(): Promise<void> {
  let wallets = 0;
  let wrong = 0;
  for await (const organizationId of organizationIds.length > 0 ? organizationIds : listWallets()) {
    const result = await auditWallet(organizationId);
    wallets += 1;
    if (result.findings.length > 0) wrong += 1;
    print(flags.json === true ? JSON.stringify(result) : describe(result));
  }
  if (flags.json !== true) print(`${wallets} wallets audited, ${wrong} not in order`);
  if (wrong > 0) process.exitCode = 1;
}

function describe({ organizationId, balanceMicros, entries, findings }: Audit): string {
  const state = findings.length === 0 ? "in order" : "NOT IN ORDER";
  const lines = findings.map((finding) => `\n    ${finding}`).join("");
  return `${organizationId}  ${(balanceMicros / 1e6).toFixed(6)} USD  ${entries} entries  ${state}${lines}`;
}

/** Points the shared code at a deployed table, or at the one of the gateway on this machine. */
async function useTable(name: string | undefined): Promise<void> {
  if (name !== undefined) {
    process.env[environmentNames.tableName] = name;
    return;
  }
  const file = path.resolve(projectRoot, process.env["DATA_DIR"] ?? ".local", endpointsFile);
  const content = await readFile(file, "utf8").catch(() => {
    throw new Error(`No gateway has run here (${file} is missing): npm start, or name a --table`);
  });
  const { dynamodb, table } = z
    .object({ dynamodb: z.string(), table: z.string() })
    .parse(JSON.parse(content));
  process.env[environmentNames.tableName] = table;
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = dynamodb;
  process.env["AWS_REGION"] = "us-east-1";
  process.env["AWS_ACCESS_KEY_ID"] = "operator";
  process.env["AWS_SECRET_ACCESS_KEY"] = "local";
}
