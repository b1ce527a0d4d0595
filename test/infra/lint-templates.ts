import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";

import { App } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";

import { bundleFunctions } from "../../infra/build/bundle.ts";
import { projectRoot } from "../../infra/build/project-root.ts";
import { hasPython, pythonPrograms } from "../../infra/build/python-programs.ts";
import { GatewayStack } from "../../infra/stack/gateway-stack.ts";
import { stageNamed, type Stage } from "../../infra/stack/stages/stage.ts";
import { fullStage } from "../support/full-stage.ts";
import { isNightly } from "../support/second-opinions.ts";

// `npm run lint:templates` checks the stacks of all stages, and of one with all settings, against the rules of cdk-nag. It
// checks that one also with cfn-lint, and at night all. In each run CloudFormation's own rules hold for the others: `npm run synth`
// applies them to `dev`, and `npm run test:deploy` to `prod`. Fix each finding, or explain it next to the resource.

const folder = path.join(projectRoot, ".build/lint");

const rulePacks = [AwsSolutionsChecks, ServerlessChecks];

/** Returns the unexplained findings of cdk-nag in the stacks of a stage, and the files of their templates. */
function synthesize(stage: Stage): { findings: string[]; templates: string[] } {
  const app = new App({
    outdir: path.join(folder, stage.name),
    analyticsReporting: false,
    treeMetadata: false,
    // `npm run synth` checks the stack against these rules.
    builtinCloudFormationValidation: false,
  });
  new GatewayStack(app, `sms-gateway-${stage.name}`, stage);
  const { directory } = app.synth();
  const findings = rulePacks
    .flatMap((Pack) => new Pack(app).validateScope(app).violations)
    .flatMap(({ ruleName, description, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${constructPath}: ${ruleName}: ${description}`),
    );
  // This includes nested stacks, which the CDK treats as files of their parent stack.
  const templates = readdirSync(directory).filter((file) => file.endsWith(".template.json"));
  return { findings, templates: templates.map((file) => path.join(directory, file)) };
}

/** Returns the findings of cfn-lint in templates, or the reason why it could not check them. */
async function lint(cfnLint: string, templates: readonly string[]): Promise<string[]> {
  const config = path.join(projectRoot, "test/infra/cfn-lint.yaml");
  const options = ["--config-file", config, "--format", "parseable", "--template", ...templates];
  return new Promise((resolve) => {
    execFile(cfnLint, options, (error, stdout, stderr) => {
      resolve(error === null ? [] : `${error.message}\n${stdout}\n${stderr}`.split("\n").filter(Boolean));
    });
  });
}

/** Distributes files over at most `count` groups with about the same number of bytes. */
function groupsOfLikeSize(files: readonly string[], count: number): string[][] {
  const groups = Array.from({ length: count }, () => ({ bytes: 0, files: new Array<string>() }));
  const sized = files.map((file) => ({ file, bytes: statSync(file).size }));
  for (const { file, bytes } of sized.toSorted((one, other) => other.bytes - one.bytes)) {
    const smallest = groups.reduce((least, group) => (group.bytes < least.bytes ? group : least));
    smallest.files.push(file);
    smallest.bytes += bytes;
  }
  return groups.map((group) => group.files).filter((group) => group.length > 0);
}

await bundleFunctions();
const names = readdirSync(path.join(projectRoot, "infra/stack/stages"))
  .filter((file) => file.endsWith(".json"))
  .map((file) => path.basename(file, ".json"))
  // No one deploys it.
  .filter((name) => name !== "local");
const stages = [...names.map((name) => stageNamed(name)), fullStage].map(synthesize);
const findings = stages.flatMap((stage) => stage.findings);
const templates = (isNightly ? stages : stages.slice(-1)).flatMap((stage) => stage.templates);
if (await hasPython()) {
  const cfnLint = path.join(await pythonPrograms("test/infra/requirements.txt"), "cfn-lint");
  // Several run at the same time, because cfn-lint uses one core, and its time grows with the template.
  const groups = groupsOfLikeSize(templates, availableParallelism());
  findings.push(...(await Promise.all(groups.map((group) => lint(cfnLint, group)))).flat());
} else {
  process.stdout.write("Skipped cfn-lint, because it needs Python 3 with venv.\n");
}
for (const finding of findings) process.stdout.write(`${finding}\n`);
if (findings.length > 0) {
  process.stdout.write(
    "Fix each finding, or explain it next to the resource: Validations.of(construct).acknowledge({ id, reason }).\n",
  );
  process.exitCode = 1;
}
