import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { recordExamples } from "../../infra/local/recordings/examples.ts";
import type { DocumentedOperation } from "../../shared/api/openapi/document.ts";
import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { samplesOf } from "../../shared/api/openapi/samples.ts";
import { publicOperations } from "../../shared/api/routes.ts";
import {
  installedLanguages,
  installPackages,
  type InstalledPackages,
} from "../support/installed-packages.ts";
import { isNightly } from "../support/second-opinions.ts";
import { SampleProcess } from "./sample-process.ts";

/*
 * Runs the samples of every operation unchanged, in the order in which the examples are recorded. A server between the samples
 * and the gateway checks that all languages send the same request, and replaces the example ids by existing ones. A request that
 * reads reaches the gateway from each language. One that changes something reaches it once, and the others get its response.
 * Each operation runs with curl and with one of our packages; at night in all languages.
 */

const run = promisify(execFile);
type Language = "curl" | "go" | "java" | "php" | "python" | "typescript";
const languagesOfEachRun: readonly Language[] = ["curl", "typescript", "python"];
const sampleLanguages: readonly Language[] = isNightly
  ? [...languagesOfEachRun, "php", "go", "java"]
  : languagesOfEachRun;

const operations = Object.entries(openApiDocument().paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path: template,
  })),
);

let folder = "";
let languages: Language[] = [];
let packages: InstalledPackages;
/** Those that run the samples of languages whose programs take long to load. */
const processes = new Map<Language, SampleProcess>();
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "samples-"));
  packages = await installPackages(inject("baseUrl"), folder);
  languages = installedLanguages(sampleLanguages);
  await Promise.all(languages.map(prepare));
  processes.set("typescript", new SampleProcess(process.execPath, "run-samples.mjs"));
  if (packages.python !== undefined) {
    processes.set("python", new SampleProcess(packages.python, "run-samples.py"));
  }
});
afterAll(async () => {
  for (const started of processes.values()) await started.end();
  await rm(folder, { recursive: true, force: true });
});

/** Writes the samples of a language. Go and Java are compiled once: each sample gets a name of its own. */
async function prepare(language: Language): Promise<void> {
  const target = folderOf(language);
  await mkdir(target, { recursive: true });
  for (const operation of operations) {
    const { operationId } = operation;
    const source = samplesOf(operation).find(({ lang }) => lang === language)?.source ?? "";
    const [file, content] = {
      curl: [`${operationId}.sh`, source],
      typescript: [`${operationId}.mts`, source],
      python: [`${operationId}.py`, source],
      php: [`${operationId}.php`, source],
      go: [`${operationId}_sample.go`, source.replace("func main()", `func ${operationId}()`)],
      java: [`${operationId}.java`, source.replace("class Sample", `class ${operationId}`)],
    }[language];
    await writeFile(path.join(target, file ?? ""), content ?? "");
  }
  if (language === "go") {
    const cases = operations
      .map(({ operationId }) => `\tcase "${operationId}":\n\t\t${operationId}()\n`)
      .join("");
    const main = `package main\n\nimport "os"\n\nfunc main() {\n\tswitch os.Args[1] {\n${cases}\t}\n}\n`;
    await writeFile(path.join(target, "main.go"), main);
    await writeFile(path.join(target, "go.mod"), "module samples\n\ngo 1.21\n");
    await run("go", ["build", "-o", "samples"], { cwd: target });
  }
  if (language === "java") {
    await run(
      "javac",
      operations.map(({ operationId }) => `${operationId}.java`),
      { cwd: target },
    );
  }
}

/** Node looks for packages in the folders above a program. */
function folderOf(language: Language): string {
  return path.join(language === "typescript" ? packages.nodeFolder : folder, `samples-${language}`);
}

/** Runs a sample, and returns what it prints. */
async function runSample(
  language: Language,
  operation: string,
  url: string,
  credential: string,
): Promise<string> {
  const target = folderOf(language);
  const credentials = { SMS_GATEWAY_URL: url, SMS_GATEWAY_KEY: credential, SMS_GATEWAY_TOKEN: credential };
  if (language === "typescript" || language === "python") {
    const file = path.join(target, `${operation}${language === "python" ? ".py" : ".mts"}`);
    return (await processes.get(language)?.run(file, credentials))?.trim() ?? "";
  }
  const commands: Record<Exclude<Language, "python" | "typescript">, string[]> = {
    curl: ["sh", path.join(target, `${operation}.sh`)],
    php: ["php", path.join(target, `${operation}.php`)],
    go: [path.join(target, "samples"), operation],
    java: ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", target, operation],
  };
  const [program = "", ...options] = commands[language];
  return (await run(program, options, { env: { ...process.env, ...credentials } })).stdout.trim();
}

/** The request of a sample, without the headers of its client. */
interface SentRequest {
  /** The first part of the path, which each language has of its own. */
  readonly language: string;
  readonly line: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: unknown;
}

async function sentRequest(request: IncomingMessage): Promise<SentRequest> {
  const body = await text(request);
  const { authorization } = request.headers;
  const [, language = "", address = ""] = /^\/(\w+)(\/.*)$/.exec(request.url ?? "") ?? [];
  return {
    language,
    line: `${request.method} ${address}`,
    authorization,
    contentType: request.headers["content-type"],
    body: body === "" ? undefined : JSON.parse(body),
  };
}

/** Returns the languages in which the sample of an operation runs. */
function languagesOf(operationId: string): Language[] {
  if (isNightly) return languages;
  const isOdd = operations.findIndex((each) => each.operationId === operationId) % 2 === 1;
  return languages.filter((language) => language !== (isOdd ? "python" : "typescript"));
}

it("every sample of every operation runs and gets the gateway's response", async () => {
  const succeeded = new Map<string, Set<Language>>();
  /** Forwards the present request. */
  let forward: (request: SentRequest) => Promise<string> = async () => "";
  const server = createServer((request, response) => {
    sentRequest(request)
      .then(forward)
      .then(
        (answer) => response.end(answer),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server, 0)}`;
  await recordExamples(async (operationId, target, init) => {
    const operation = operations.find((each) => each.operationId === operationId);
    const credential = new Headers(init.headers).get("Authorization")?.replace("Bearer ", "");
    const done = succeeded.get(operationId);
    // The recording also calls operations with other bodies, and repeats some.
    const wanted = languagesOf(operationId);
    if (operation === undefined || done?.size === wanted.length || isChanged(operation, init)) {
      return fetch(target, init);
    }
    const answered = await fetch(target, init);
    const answer = await answered.clone().text();
    if (!answered.ok) return answered;
    const requests = new Map<string, SentRequest>();
    forward = async (request) => {
      requests.set(request.language, request);
      // The samples of lists in Python read all pages. Here a list ends with its first one.
      const read = operation.method === "GET" ? await (await fetch(target, init)).text() : answer;
      return read.replace(/"nextCursor":"[^"]*"/, '"nextCursor":null');
    };
    const samples = wanted.map(async (language) => {
      const printed = await runSample(language, operationId, `${url}/${language}`, credential ?? "none");
      const sent = requests.get(language);
      const about = `${language} ${operationId}: ${printed}`;
      expect(isExpected(language, printed, JSON.parse(answer)), about).toBe(true);
      expect(sent?.line.split(" ")[0]).toBe(init.method);
      expect(sent?.line.replaceAll(/_01KE0+1\b/g, "")).toMatch(patternOf(target));
      expect(sent?.authorization).toBe(credential === undefined ? undefined : `Bearer ${credential}`);
      expect(sent?.body, `${language} ${operationId}`).toEqual(exampleOf(operation));
      expect(sent?.contentType).toBe(sent?.body === undefined ? undefined : "application/json");
      succeeded.set(operationId, (succeeded.get(operationId) ?? new Set()).add(language));
    });
    await Promise.all(samples);
    return answered;
  });
  server.close();
  await once(server, "close");
  const missing = publicOperations().filter(
    ([name]) => succeeded.get(name)?.size !== languagesOf(name).length,
  );
  expect(languages).toContain("curl");
  // A code can be sent again only after half a minute, so the recording does not call it.
  expect(missing.map(([name]) => name)).toEqual(["resendVerification"]);
}, 1_200_000);

/** Returns whether a sample prints the response, or in languages with a package what its method returns. */
function isExpected(language: Language, printed: string, answer: object): boolean {
  const { data, meta }: { data?: unknown; meta?: unknown } = answer;
  if (language === "python") {
    const rows = printed === "" ? [] : printed.split("\n");
    return rows.length === (Array.isArray(data) ? data.length : 1);
  }
  const fields = Object.keys(Object(JSON.parse(printed)));
  if (language !== "typescript") return fields.includes("data");
  const expected = meta === undefined ? Object.keys(Object(data)) : ["rows", "meta"];
  return fields.toString() === expected.toString();
}

function exampleOf({ requestBody }: DocumentedOperation): unknown {
  if (requestBody === undefined) return undefined;
  return requestBody.content["application/json"]?.example ?? {};
}

/** Returns whether a recorded request has other fields than the example. */
function isChanged(operation: DocumentedOperation, { body }: RequestInit): boolean {
  const fields = (value: unknown): string[] => Object.keys(Object(value)).toSorted();
  if (typeof body !== "string") return false;
  return JSON.stringify(fields(JSON.parse(body))) !== JSON.stringify(fields(exampleOf(operation)));
}

/** Matches the request of a sample: the path of the recorded one, with any ids of the same kinds. */
function patternOf(target: string): RegExp {
  const { pathname } = new URL(target);
  const parts = pathname
    .split("/")
    .map((part) => (/[_-]|^\d/.test(part) && !/^[a-z-]+$/.test(part) ? "[^/]*" : part));
  return new RegExp(` ${parts.join("/")}$`);
}
