import * as z from "zod/mini";

import { routes } from "../routes.ts";
import type { JsonSchema } from "./components.ts";
import type { DocumentedOperation, Parameter, Sample } from "./document.ts";

/*
 * The samples of an operation, in six languages. They read the address and the credential from environment variables, so that
 * they run unchanged. Each one prints the response.
 */

/** An operation with its place in the document, as samples need it. */
interface PlacedOperation extends Pick<
  DocumentedOperation,
  "operationId" | "parameters" | "requestBody" | "security"
> {
  readonly method: string;
  readonly path: string;
}

/** The address in samples, unless the environment has another. */
export const sampleAddress = "https://sms.example.com";

/** A call as samples make it. */
interface SampleCall {
  readonly operation: PlacedOperation;
  /** The path with example ids. */
  readonly path: string;
  /** The example of the body, which is an object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** The example of the body as JSON. */
  readonly json: string | undefined;
  /** The environment variable of the credential; undefined if the operation requires none. */
  readonly credential: string | undefined;
}

/** Returns the samples of an operation for curl, TypeScript, Python, PHP, Go and Java. */
export function samplesOf(operation: PlacedOperation): Sample[] {
  const example = operation.requestBody?.content["application/json"]?.example;
  const body =
    operation.requestBody === undefined ? undefined : z.record(z.string(), z.unknown()).parse(example ?? {});
  const call: SampleCall = {
    operation,
    path: operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => exampleParameter(operation, name)),
    body,
    json: body === undefined ? undefined : JSON.stringify(body, null, 2),
    credential: credentialOf(operation),
  };
  return [
    { lang: "curl", label: "curl", source: curl(call) },
    { lang: "typescript", label: "TypeScript", source: typescript(call) },
    { lang: "python", label: "Python", source: python(call) },
    { lang: "php", label: "PHP", source: php(call) },
    { lang: "go", label: "Go", source: go(call) },
    { lang: "java", label: "Java", source: java(call) },
  ];
}

/** Returns the variable with the credential. An operation without a scope requires the token of a session. */
function credentialOf({ security }: PlacedOperation): string | undefined {
  const [requirement] = security;
  if (requirement === undefined) return undefined;
  return (requirement["bearer"] ?? []).length > 0 ? "SMS_GATEWAY_KEY" : "SMS_GATEWAY_TOKEN";
}

/** Returns an example of a parameter in the path: a documented one, or an id with the prefix that its pattern names. */
function exampleParameter({ parameters = [] }: PlacedOperation, name: string): string {
  const schema: JsonSchema = parameters.find((each: Parameter) => each.name === name)?.schema ?? {};
  const [documented] = schema.examples ?? [];
  if (typeof documented === "string") return documented;
  const [, prefix = "", separator = "_"] = /^\^\(?(\w+?)([_|])/.exec(schema.pattern ?? "") ?? [];
  if (separator === "|") return `${prefix}-2026-000001`;
  return prefix === "pm" ? "pm_1QExampleOfStripe" : `${prefix}_01KE${"1".padStart(22, "0")}`;
}

function indented(text: string, spaces: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}

function curl({ operation: { method }, path, json, credential }: SampleCall): string {
  const isDefault = method === (json === undefined ? "GET" : "POST");
  const options = [
    ...(isDefault ? [] : [`-X ${method}`]),
    ...(credential === undefined ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...(json === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${shellQuoted(json)}`]),
  ];
  return [`curl "\${SMS_GATEWAY_URL:-${sampleAddress}}${path}"`, ...options].join(" \\\n  ");
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function typescript({ operation, path, json, credential }: SampleCall): string {
  const params = parametersInPath(operation, path);
  const options = [
    ...(params.length > 0
      ? [`params: { ${params.map(([name, value]) => `${name}: "${value}"`).join(", ")} }`]
      : []),
    ...(json === undefined ? [] : [`body: ${indented(unquotedKeys(json), 2)}`]),
  ];
  const given = options.length === 0 ? "" : `{\n  ${options.join(",\n  ")},\n}`;
  return `import { createClient } from "sms-gateway";

const client = createClient({
  baseUrl: process.env.SMS_GATEWAY_URL ?? "${sampleAddress}",${
    credential === undefined ? "" : `\n  credential: process.env.${credential},`
  }
});

const result = await client.${operation.operationId}(${given});
console.log(JSON.stringify(result));
`;
}

/** Returns JSON as it is written in TypeScript. */
function unquotedKeys(json: string): string {
  return json.replaceAll(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, "$1$2:");
}

/** Returns the parameters in a path with their example values. */
function parametersInPath(operation: PlacedOperation, path: string): [name: string, value: string][] {
  const values = path.split("/");
  return operation.path
    .split("/")
    .flatMap((part, index): [string, string][] =>
      part.startsWith("{") ? [[part.slice(1, -1), values[index] ?? ""]] : [],
    );
}

function python({ operation, path, body, credential }: SampleCall): string {
  const given = [
    ...parametersInPath(operation, path).map(([, value]) => pythonLiteral(value)),
    ...Object.entries(body ?? {}).map(([name, value]) => `${pythonName(name)}=${pythonLiteral(value)}`),
  ];
  const call = `client.${pythonName(operation.operationId)}(${
    given.length < 2 ? given.join("") : `\n    ${given.map((each) => indented(each, 4)).join(",\n    ")},\n`
  })`;
  return `import os

from sms_gateway import Client

client = Client(
    base_url=os.environ.get("SMS_GATEWAY_URL", "${sampleAddress}"),${
      credential === undefined ? "" : `\n    credential=os.environ["${credential}"],`
    }
)

${"paged" in routes[operation.operationId] ? `for row in ${call}:\n    print(row)` : `result = ${call}\nprint(result)`}
`;
}

const pythonKeywords: ReadonlySet<string> = new Set([
  "class",
  "from",
  "global",
  "import",
  "in",
  "is",
  "lambda",
  "pass",
]);

/** Returns the name of a field or an operation in Python. A keyword gets an underscore. */
export function pythonName(field: string): string {
  return pythonKeywords.has(field) ? `${field}_` : snakeCase(field);
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function pythonLiteral(value: unknown): string {
  return JSON.stringify(value, null, 4)
    .split("\n")
    .map((line) => line.replace(/(?<=^[^"]*|": )\b(true|false|null)\b(?=,?$)/, pythonConstant))
    .join("\n");
}

function pythonConstant(constant: string): string {
  return { true: "True", false: "False", null: "None" }[constant] ?? constant;
}

function php({ operation: { method }, path, json, credential }: SampleCall): string {
  const headers = [
    ...(credential === undefined ? [] : [`'Authorization: Bearer ' . getenv('${credential}')`]),
    ...(json === undefined ? [] : ["'Content-Type: application/json'"]),
  ];
  const options = [
    "CURLOPT_RETURNTRANSFER => true",
    ...(method === "GET" ? [] : [`CURLOPT_CUSTOMREQUEST => '${method}'`]),
    ...(headers.length === 0
      ? []
      : [`CURLOPT_HTTPHEADER => [\n        ${headers.join(",\n        ")},\n    ]`]),
    ...(json === undefined ? [] : [`CURLOPT_POSTFIELDS => <<<'JSON'\n    ${indented(json, 4)}\n    JSON`]),
  ];
  return `<?php

$url = getenv('SMS_GATEWAY_URL') ?: '${sampleAddress}';
$request = curl_init($url . '${path}');
curl_setopt_array($request, [
    ${options.join(",\n    ")},
]);
$response = curl_exec($request);
if ($response === false) {
    throw new RuntimeException(curl_error($request));
}
echo $response, PHP_EOL;
`;
}

function go({ operation: { method }, path, json, credential }: SampleCall): string {
  const imports = ["fmt", "io", "log", "net/http", "os", ...(json === undefined ? [] : ["strings"])];
  const body = json === undefined ? "nil" : `strings.NewReader(${goQuoted(json)})`;
  const headers = [
    ...(credential === undefined ? [] : [`"Authorization", "Bearer "+os.Getenv("${credential}")`]),
    ...(json === undefined ? [] : ['"Content-Type", "application/json"']),
  ];
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join("\n")}
)

func main() {
	url := os.Getenv("SMS_GATEWAY_URL")
	if url == "" {
		url = "${sampleAddress}"
	}
	request, err := http.NewRequest("${method}", url+"${path}", ${body})
	if err != nil {
		log.Fatal(err)
	}
${headers.map((header) => `\trequest.Header.Set(${header})\n`).join("")}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
}
`;
}

/** Returns a raw string of Go, or a quoted one for text with a backtick. */
function goQuoted(text: string): string {
  return text.includes("`") ? JSON.stringify(text) : `\`${text}\``;
}

function java({ operation: { method }, path, json, credential }: SampleCall): string {
  const publisher =
    json === undefined ? "BodyPublishers.noBody()" : `BodyPublishers.ofString(${javaBlock(json)})`;
  const calls = [
    `HttpRequest.newBuilder(URI.create(url + "${path}"))`,
    ...(credential === undefined
      ? []
      : [`.header("Authorization", "Bearer " + System.getenv("${credential}"))`]),
    ...(json === undefined ? [] : ['.header("Content-Type", "application/json")']),
    `.method("${method}", ${publisher})`,
    ".build();",
  ];
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

public class Sample {
    public static void main(String[] args) throws Exception {
        String url = System.getenv().getOrDefault("SMS_GATEWAY_URL", "${sampleAddress}");
        HttpRequest request = ${calls.join("\n            ")}
        String response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
        System.out.println(response);
    }
}
`;
}

function javaBlock(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"""');
  return `"""\n                ${indented(escaped, 16)}"""`;
}
