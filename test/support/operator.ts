import { execFile } from "node:child_process";

import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { CommanderError } from "commander";
import { expect, vi } from "vitest";
import * as z from "zod/mini";

import { localCredentials } from "../../infra/local/connections.ts";
import { commandLine, type Order } from "../../infra/operator/command-line.ts";
import { connect } from "../../infra/operator/context.ts";
import { Output } from "../../infra/operator/output.ts";
import { runCommandLine } from "../../infra/operator/run.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import type { QueueName } from "../../shared/platform/queue-names.ts";
import { patience } from "./patience.ts";

/** The result of a command. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A command line as in a shell, where quotes keep words together, or its words. */
type Typed = string | readonly string[];

/** Splits a line into words as a shell does. */
export function wordsOf(typed: Typed): readonly string[] {
  if (typeof typed !== "string") return typed;
  const words = typed.match(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return words.map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
}

/** The output of all commands that a test file has run. */
export const printed: string[] = [];

/** Waits until the function has written all entries of the audit log that commands have queued. */
export async function entriesWritten(): Promise<void> {
  await queueEmptied("auditEntries");
}

/** Waits until a function has done all jobs of a queue. */
export async function queueEmptied(queue: QueueName): Promise<void> {
  const { stackOutput } = await connect(undefined);
  const QueueUrl = stackOutput(outputNames.queueUrl(queue)).value;
  // A role may only send entries.
  const sqs = new SQSClient({ credentials: localCredentials });
  const AttributeNames = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
  await vi.waitFor(async () => {
    const counted = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] });
    const { Attributes = {} } = await sqs.send(counted);
    expect(AttributeNames.map((name) => Attributes[name])).toEqual(["0", "0"]);
  }, patience);
}

/** Runs an operator command without a process for it, whose start would take longer than most commands. */
export async function operator(typed: Typed): Promise<Ended> {
  if (wordsOf(typed)[0] === "audit-log") await entriesWritten();
  const { stdout, stderr } = await captured(async () => runCommandLine(wordsOf(typed), false));
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  printed.push(stdout, stderr);
  return { code, out: stdout, err: stderr };
}

/** Runs a command that must succeed without a warning. @returns its output */
export async function outputOf(typed: Typed): Promise<string> {
  const { out, ...ended } = await operator(typed);
  expect(ended).toEqual({ code: 0, err: "" });
  return out;
}

/** Runs a command that must end with an exit code and one line with the reason. @returns the line */
export async function rejectionOf(typed: Typed, exitCode = 1): Promise<string> {
  const { err, ...ended } = await operator(typed);
  expect(ended).toEqual({ code: exitCode, out: "" });
  expect(err).toMatch(/^.*\n$/);
  return err.trimEnd();
}

/** Runs a command that must succeed, with --json. @returns its objects, checked */
export async function jsonOf<Row>(line: string, schema: z.ZodMiniType<Row>): Promise<Row[]> {
  return objectsIn(await outputOf(`${line} --json`), schema);
}

/** The objects in the output of a command with --json, checked. */
export function objectsIn<Row>(out: string, schema: z.ZodMiniType<Row>): Row[] {
  const lines = out.split("\n").filter((line) => line !== "");
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

const Entry = z.looseObject({ action: z.string(), outcome: z.optional(z.string()) });

/** Returns the entries of an audit log about a command, the newest first. @param of an organization; default: the stage */
export async function auditLog(action: string, of = ""): Promise<z.infer<typeof Entry>[]> {
  const entries = await jsonOf(`audit-log ${of} --limit 1000`, Entry);
  return entries.filter((entry) => entry.action === action);
}

/** Captures the output of this process while a function runs, without its progress: only a slow machine reports that. */
export async function captured(work: () => Promise<void>): Promise<{ stdout: string; stderr: string }> {
  const texts = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      texts[stream] += String(text);
      return true;
    }),
  );
  const progress = vi.spyOn(Output.prototype, "progress").mockReturnValue();
  try {
    await work();
  } finally {
    for (const spy of [...spies, progress]) spy.mockRestore();
  }
  return texts;
}

/** Runs an operator command as a person would, on the gateway of a folder, and waits for its end. @param input its standard input */
export async function operatorProcess(
  dataFolder: string,
  typed: Typed,
  environment: Readonly<Record<string, string>> = {},
  input = "",
): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATA_DIR: dataFolder, ...environment };
    const file = "infra/operator/main.ts";
    const child = execFile(process.execPath, [file, ...wordsOf(typed)], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    child.stdin?.end(input);
  });
}

interface Understood {
  /** The command that would have run. */
  readonly order: Order | undefined;
  readonly out: string;
  readonly err: string;
}

/** Parses a command line without a process and without a gateway. */
export async function understand(typed: Typed, canAsk = false): Promise<Understood> {
  const carryOut = vi.fn<(order: Order) => Promise<void>>();
  const { stdout, stderr } = await captured(async () => {
    try {
      await commandLine(canAsk, carryOut).parseAsync(wordsOf(typed), { from: "user" });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
    }
  });
  return { order: carryOut.mock.lastCall?.[0], out: stdout, err: stderr };
}

/** Text without the line breaks that fit it to a terminal. */
export function unwrapped(text: string): string {
  return text.replace(/\s+/g, " ");
}
