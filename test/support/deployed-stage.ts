import type { TestProject } from "vitest/node";

import { connect } from "../../infra/operator/context.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { environmentNames } from "../../shared/platform/config.ts";

/** The addresses and settings of a deployed stage for the tests of the endpoints. */
declare module "vitest" {
  interface ProvidedContext {
    /**
     * The environment variables with which a test's own code comes to the stage's account and table. Absent on the local
     * gateway.
     */
    stageEnvironment?: Readonly<Record<string, string>>;
  }
}

/** Leads the tests to the stage that `STAGE` names, in the account that the AWS credentials are of. */
export async function setup(project: TestProject): Promise<void> {
  await provideStage(project, process.env["STAGE"] ?? "");
}

/** Leads the tests of a project to a stage: its API, its table, and the account of this process. */
export async function provideStage(project: TestProject, name: string): Promise<void> {
  const { stackOutput } = await connect(stageNamed(name));
  const passedOn = Object.entries(process.env).filter(
    ([variable]) =>
      variable.startsWith("AWS_") || variable === "STAGES_FOLDER" || variable === environmentNames.tableName,
  );
  project.provide("baseUrl", stackOutput(outputNames.apiUrl).value.replace(/\/$/, ""));
  project.provide("stageEnvironment", Object.fromEntries(passedOn.map(([key, value = ""]) => [key, value])));
}
