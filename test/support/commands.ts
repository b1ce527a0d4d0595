import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import * as cloudFormation from "@aws-sdk/client-cloudformation";
import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as kms from "@aws-sdk/client-kms";
import * as lambda from "@aws-sdk/client-lambda";
import * as sms from "@aws-sdk/client-pinpoint-sms-voice-v2";
import * as secretsManager from "@aws-sdk/client-secrets-manager";
import * as ses from "@aws-sdk/client-sesv2";
import * as sts from "@aws-sdk/client-sts";
import * as z from "zod/mini";

import { commands } from "../../infra/operator/command-line.ts";
import { deployArguments } from "../../infra/stack/deploy-arguments.ts";
import { understand, wordsOf } from "./operator.ts";

/*
 * Checks the commands on our pages against the definitions of their programs. No command is run.
 */

/** The commands in a page: the lines of its shell blocks, and its code spans. */
export function commandsIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) =>
    block
      .replaceAll(/\\\n\s*/g, "")
      .replaceAll(/\s+# .*$/gm, "")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  );
  const prose = markdown.replaceAll(/```.*?```/gs, "");
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span.replaceAll(/\s+/g, " "));
  return [...lines, ...spans.filter(isCommand)];
}

const groups = new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""));
const names = new Set(commands.map(({ name }) => name));

function isCommand(span: string): boolean {
  const [program = "", second = ""] = span.split(" ");
  if (["aws", "cdk", "npm", "npx", "operator"].includes(program)) return second !== "";
  // The name of an operator command in prose.
  return groups.has(program) && names.has(span.split(" ").slice(0, 2).join(" "));
}

/** Returns the problem of a command; undefined for a valid one. */
export async function mistakeIn(command: string): Promise<string | undefined> {
  const [program = "", ...words] = filledIn(command);
  if (program === "aws") return mistakeOfAws(words);
  if (program === "operator" || groups.has(program)) {
    const named = (program === "operator" ? words : [program, ...words]).slice(0, 2);
    // In prose a name is enough. A command with more words must be complete.
    if (names.has(named.join(" ")) && command.replace(/^operator /, "") === named.join(" ")) return undefined;
    return names.has(command.replace(/^operator /, "")) ? undefined : mistakeOfOperator(words, program);
  }
  if (program === "npx" && words[0] === "cdk") return mistakeOfCdk(words.slice(1));
  if (program === "npm") return mistakeOfNpm(words);
  return undefined;
}

async function mistakeOfNpm([verb = "", ...words]: readonly string[]): Promise<string | undefined> {
  if (verb !== "run") return ["ci", "start", "test"].includes(verb) ? undefined : `npm knows no ${verb}`;
  const [script = "", separator, ...rest] = words;
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await readFile("package.json", "utf8")));
  const line = scripts[script];
  if (line === undefined) return `there is no script ${script}`;
  if (separator !== undefined && separator !== "--")
    return "npm would keep the arguments; put -- before them";
  if (script === "operator") return mistakeOfOperator(rest);
  if (script === "deploy") return mistakeOfCdk(deployArguments(rest, true).deploy);
  const [program = "", ...own] = line.split(" ");
  if (program === "cdk") return mistakeOfCdk([...own, ...rest]);
  if (script === "smoke") return mistakeOfOperator(["smoke-test", ...rest]);
  return undefined;
}

async function mistakeOfOperator(
  words: readonly string[],
  program = "operator",
): Promise<string | undefined> {
  const { order, out, err } = await understand(program === "operator" ? words : [program, ...words], true);
  // A request for help has an output, and no error.
  return order !== undefined || err === "" ? undefined : `${err}${out}`.trim();
}

const helpOfCdk = new Map<string, Promise<string>>();

async function mistakeOfCdk([command = "", ...words]: readonly string[]): Promise<string | undefined> {
  const bin = path.resolve("node_modules/.bin/cdk");
  const asked =
    helpOfCdk.get(command) ?? promisify(execFile)(bin, [command, "--help"]).then(({ stdout }) => stdout);
  helpOfCdk.set(command, asked);
  const help = await asked;
  if (!help.startsWith(`cdk ${command} `)) return `cdk knows no ${command}`;
  return words
    .filter((word) => word.startsWith("-"))
    .map((word) => word.replace(/=.*/, "").replace(/^--no-/, "--"))
    .find((flag) => !new RegExp(`(^|[\\s,])${flag}[\\s,]`, "m").test(help));
}

/** The services with an installed SDK that describes their operations, by their names in the AWS CLI. */
const services: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  cloudformation: cloudFormation,
  dynamodb,
  kms,
  lambda,
  "pinpoint-sms-voice-v2": sms,
  secretsmanager: secretsManager,
  sesv2: ses,
  sts,
};

/** The options of other services' commands, from the reference of the AWS CLI 2. */
const otherOptions: Readonly<Record<string, readonly string[]>> = {
  "cloudtrail lookup-events": ["lookup-attributes"],
  "cloudwatch describe-alarms": ["state-value", "alarm-name-prefix"],
  "cloudwatch set-alarm-state": ["alarm-name", "state-value", "state-reason"],
  "cloudwatch get-metric-statistics": [
    "namespace",
    "metric-name",
    "statistics",
    "period",
    "start-time",
    "end-time",
    "dimensions",
  ],
  "events disable-rule": ["name"],
  "events enable-rule": ["name"],
  "events list-rules": ["name-prefix"],
  "health describe-events": ["filter"],
  // A command of the CLI's own, which version 1 does not have.
  "logs tail": ["follow", "since", "filter-pattern"],
  "s3api list-objects-v2": ["bucket"],
  "service-quotas request-service-quota-increase": ["service-code", "quota-code", "desired-value"],
};

const globalOptions = ["output", "profile", "query", "region"];

function mistakeOfAws([service = "", operation = "", ...words]: readonly string[]): string | undefined {
  if (service === "--version") return undefined;
  const isWait = operation === "wait";
  const sdk = services[service];
  const known =
    sdk === undefined
      ? otherOptions[`${service} ${operation}`]
      : optionsOf(sdk, isWait ? (words[0] ?? "") : operation, isWait);
  if (known === undefined) return `the AWS CLI knows no ${service} ${operation}, or this test does not`;
  const options = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
  const unknown = options.find(
    (option) => ![...known, ...globalOptions].includes(option.replace(/^no-(?!cli)/, "")),
  );
  return unknown === undefined ? undefined : `aws ${service} ${operation} takes no --${unknown}`;
}

/** The index of an operation's input in its schema, and of the member names in the schema of an input. */
const OperationSchema = z.tuple(
  [z.unknown(), z.unknown(), z.unknown(), z.unknown(), z.unknown()],
  z.unknown(),
);
const InputSchema = z.tuple(
  [z.unknown(), z.string(), z.string(), z.unknown(), z.array(z.string())],
  z.unknown(),
);

function optionsOf(
  sdk: Readonly<Record<string, unknown>>,
  operation: string,
  isWait: boolean,
): string[] | undefined {
  const name = operation.replaceAll(/(^|-)(\w)/g, (_, _hyphen, letter: string) => letter.toUpperCase());
  // A waiter has parameters, for example the name of a table.
  if (isWait) return `waitUntil${name}` in sdk ? ["table-name"] : undefined;
  const schema = OperationSchema.safeParse(sdk[`${name}$`]);
  if (!schema.success) return undefined;
  const input = schema.data[4];
  const [, , , , members] = InputSchema.parse(typeof input === "function" ? input() : input);
  return members.map((member) => member.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase());
}

/** Splits the first command of a line into words, and fills in our placeholders. */
function filledIn(line: string): string[] {
  const [first = ""] = line.split(/ [|>] | && /);
  return wordsOf(first).map((word) => placeholders[word] ?? word);
}

/** Words in capital letters are placeholders for the reader's values. */
const placeholders: Readonly<Record<string, string>> = {
  AMOUNT: "5",
  CARRIER: "acme",
  NAME: "acme",
  NUMBER: "15005550100",
  ORGANIZATION: "org_01M7Y6EGDXHA99AE471ACHQK57",
  "ORGANIZATION:SEQ": "org_01M7Y6EGDXHA99AE471ACHQK57:12",
  PREFIX: "44",
  PRICE: "0.05",
  QUEUE: "refunds",
  STAGE: "prod",
  VERSION: "7",
};
