import { execFile } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { shadowedRouteKeys } from "../../infra/constructs/gateway-api.ts";
import { pascalCase } from "../../infra/constructs/names.ts";
import { localCredentials } from "../../infra/local/connections.ts";
import { pythonPrograms } from "../../infra/python-programs.ts";
import { workers } from "../../infra/workers.ts";
import { operations } from "../../shared/api/routes.ts";
import { environmentNames } from "../../shared/platform/config.ts";

// The statements of `infra/local/README.md` about `sam local`, as far as SAM can check them without Docker.

const run = promisify(execFile);
const folder = path.resolve(".build/sam");
const template = path.join(folder, "cdk.out/sms-gateway-dev.template.json");
const environment = {
  ...process.env,
  HOME: folder,
  SAM_CLI_TELEMETRY: "0",
  AWS_DEFAULT_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
};

/** The content of `env.json`: the names of a deployed stage's resources. */
const parameters = {
  [environmentNames.tableName]: "deployed-table",
  [environmentNames.sessionKeyId]: "deployed-key",
  ...Object.fromEntries(Object.values(environmentNames.queueUrl).map((name) => [name, `deployed-${name}`])),
};

const Listing = z.object({
  functions: z.array(
    z.object({
      name: z.string(),
      runtime: z.string(),
      handler: z.string(),
      folder: z.string(),
      environment: z.record(z.string(), z.string()),
    }),
  ),
  routes: z.array(z.object({ method: z.string(), path: z.string(), functionName: z.string() })),
});

let programs: string;
let listing: z.infer<typeof Listing>;
// Installing SAM takes a minute, and longer where the network is slow.
beforeAll(async () => {
  programs = await pythonPrograms("test/sam/requirements.txt");
  await mkdir(folder, { recursive: true });
  await run("npm", ["run", "synth", "--", "--output", path.dirname(template)]);
  const environmentFile = path.join(folder, "env.json");
  await writeFile(environmentFile, JSON.stringify({ Parameters: parameters }));
  const { stdout } = await run(
    path.join(programs, "python"),
    ["test/sam/list.py", template, environmentFile],
    { env: environment, maxBuffer: 16 * 1024 * 1024 },
  );
  listing = Listing.parse(JSON.parse(stdout));
}, 600_000);

/** The name of the row with which the name of a function begins. */
function rowOf(functionName: string): string {
  return functionName.replace(/^Api/, "").replace(/Function[0-9A-F]{8}$/, "");
}

it("sam validate accepts the template", async () => {
  const { stdout } = await run(path.join(programs, "sam"), ["validate", "--template", template], {
    env: environment,
  });
  expect(stdout).toContain("is a valid SAM Template");
});

it("sam local finds a route for each row of the table, and its function", () => {
  const routes = listing.routes.map(
    ({ method, path: route, functionName }) => `${method} ${route} ${rowOf(functionName)}`,
  );
  const expected = operations().map(
    ([operation, route]) => `${route.method} ${route.path} ${pascalCase(operation)}`,
  );
  // SAM writes the default route in this way.
  const fallback = "X-AMAZON-APIGATEWAY-ANY-METHOD $default NotFound";
  const shadowed = shadowedRouteKeys().map((routeKey) => `${routeKey} NotFound`);
  expect(routes.toSorted()).toEqual([...expected, ...shadowed, fallback].toSorted());
});

it("sam local finds each function, with its code", async () => {
  const names = [...operations().map(([operation]) => operation), "notFound", ...Object.keys(workers)];
  expect(listing.functions.map(({ name }) => rowOf(name)).toSorted()).toEqual(
    names.map(pascalCase).toSorted(),
  );
  for (const { name, runtime, handler, folder: code } of listing.functions) {
    expect({ runtime, handler }, name).toEqual({ runtime: "nodejs24.x", handler: "index.handler" });
    await expect(access(path.join(code, "index.mjs")), name).resolves.toBeUndefined();
  }
});

it("sam local gives each function the variables in env.json that it uses, and no others", () => {
  const sendSms = listing.functions.find(({ name }) => rowOf(name) === "SendSms");
  expect(sendSms?.environment).toMatchObject({
    TABLE_NAME: "deployed-table",
    SESSION_KEY_ID: "deployed-key",
    TRANSACTIONAL_SENDS_QUEUE_URL: "deployed-TRANSACTIONAL_SENDS_QUEUE_URL",
  });
  expect(sendSms?.environment).not.toHaveProperty("REFUNDS_QUEUE_URL");
  // A name that env.json does not replace would be an id of the template, which does not exist in AWS.
  const replaced = listing.functions
    .flatMap(({ environment: variables }) => Object.entries(variables))
    .filter(([variable]) => variable in parameters);
  expect(new Set(replaced.map(([, value]) => value))).toEqual(new Set(Object.values(parameters)));
});
