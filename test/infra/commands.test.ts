import { readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import { commandsIn, mistakeIn } from "../support/commands.ts";

/** The pages with commands. */
const pages = [
  "README.md",
  ".github/CONTRIBUTING.md",
  "infra/RUNBOOK.md",
  "infra/SCALE.md",
  "infra/local/README.md",
  "infra/operator/README.md",
  "infra/stack/stages/README.md",
  "shared/tenancy/audit-log/README.md",
  "shared/messages/callbacks/README.md",
  "shared/carriers/README.md",
  "shared/money/prices/README.md",
];

const found = await Promise.all(
  pages.map(async (page) =>
    commandsIn(await readFile(page, "utf8")).map((command) => [page, command] as const),
  ),
);

it.each(found.flat())("%s: %s can be typed", async (_, command) => {
  expect(await mistakeIn(command)).toBeUndefined();
});

it("the runbook has commands of all kinds", () => {
  const ofRunbook = found.flat().filter(([page]) => page === "infra/RUNBOOK.md");
  for (const program of [
    "aws logs tail",
    "aws dynamodb",
    "npm run operator -- dead-letters",
    "npm run deploy",
  ]) {
    expect(
      ofRunbook.some(([, command]) => command.startsWith(program)),
      program,
    ).toBe(true);
  }
});

it.each([
  ["npm run operator -- dead-letters redrive --stage prod", "<queue> must be one of"],
  ["npm run operator -- wallets credit", "<organization> is missing"],
  ["npm run operator -- wallets borrow", "Unknown command 'wallets borrow'"],
  ["npm run nothing", "there is no script nothing"],
  ["npm run deploy -c stage=dev", "npm would keep"],
  ["npm run deploy -- --never", "--never"],
  ["npm run smoke -- --stge dev", "--stge"],
  ["aws dynamodb update-table --table TABLE", "aws dynamodb update-table takes no --table"],
  ["aws dynamodb forget-table --table-name TABLE", "knows no dynamodb forget-table"],
  ["aws logs tail /x --filter '{ $.a = 1 }'", "aws logs tail takes no --filter"],
  ["npx cdk undeploy", "cdk knows no undeploy"],
])("%s is a mistake", async (command, mistake) => {
  expect(await mistakeIn(command)).toContain(mistake);
});
