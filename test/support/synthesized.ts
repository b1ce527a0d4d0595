import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";

import { cx_api } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";

import { projectRoot } from "../../infra/build/project-root.ts";
import { GatewayStack } from "../../infra/stack/gateway-stack.ts";
import { stackTemplates, type StackTemplates } from "../../infra/stack/nested-stacks.ts";
import type { Stage } from "../../infra/stack/stages/stage.ts";
import { testApp } from "./test-app.ts";
import { wholeTemplate } from "./whole-template.ts";

interface Synthesized {
  readonly stack: GatewayStack;
  readonly assembly: cx_api.CloudAssembly;
  /** The template of the stack, and those of its nested stacks. */
  readonly templates: StackTemplates;
  /** The resources of all these. Use it for assertions that do not depend on which of the templates a resource is in. */
  readonly template: Template;
  /** The resources of the stack in CloudFront's region. */
  readonly firewall: Template | undefined;
  /** Those of the synthesis, on the stack. */
  readonly warnings: readonly string[];
}

const known = new Map<string, Synthesized>();

/** Synthesizes the stack of a stage, once in each worker. No file of the assembly is kept. */
export function synthesized(stage: Stage): Synthesized {
  const id = JSON.stringify(stage);
  const found = known.get(id) ?? synthesize(stage);
  known.set(id, found);
  return found;
}

/** Synthesizes the stack of a stage, also where it is known. */
export function synthesize(stage: Stage): Synthesized {
  const folder = mkdtempSync(path.join(projectRoot, ".build/synthesized-"));
  const app = testApp(folder);
  // The bundles stay where they are. Copies of them would take most of the time.
  app.node.setContext("aws:cdk:disable-asset-staging", true);
  const stack = new GatewayStack(app, `sms-gateway-${stage.name}`, stage);
  const assembly = app.synth();
  const firewall = assembly.stacks.find(({ stackName }) => stackName === `${stack.stackName}-firewall`);
  const result = {
    stack,
    assembly,
    templates: stackTemplates(folder, stack.stackName),
    template: wholeTemplate(folder, stack.stackName),
    warnings: assembly
      .getStackArtifact(stack.artifactId)
      .messages.filter(({ level }) => level === cx_api.SynthesisMessageLevel.WARNING)
      .map(({ entry }) => JSON.stringify(entry.data)),
    firewall: firewall && Template.fromJSON({ ...Object(firewall.template) }),
  };
  rmSync(folder, { recursive: true });
  return result;
}
