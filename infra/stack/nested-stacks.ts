import { readFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

const Resource = z.looseObject({
  Type: z.string(),
  Properties: z._default(z.record(z.string(), z.unknown()), {}),
});
const StackTemplate = z.object({
  Parameters: z._default(z.record(z.string(), z.unknown()), {}),
  Resources: z.record(z.string(), Resource),
  Outputs: z._default(z.record(z.string(), z.looseObject({ Value: z.unknown() })), {}),
});
type StackTemplate = z.infer<typeof StackTemplate>;

export const Assets = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string() }) })),
});

/** The templates of a synthesized stack and of the stacks nested in it, as CloudFormation gets them. */
export interface StackTemplates {
  readonly main: StackTemplate;
  /** The nested templates, by the logical id of the nested stack in the template around it. */
  readonly nested: ReadonlyMap<string, StackTemplate>;
}

/** Reads the templates of a stack that was synthesized into a folder. */
export function stackTemplates(folder: string, stackName: string): StackTemplates {
  const read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), "utf8"));
  const main = StackTemplate.parse(read(`${stackName}.template.json`));
  const { files } = Assets.parse(read(`${stackName}.assets.json`));
  const nested = Object.entries(main.Resources)
    .filter(([, { Type }]) => Type === "AWS::CloudFormation::Stack")
    .map(([id, { Properties }]) => {
      const hash = /([0-9a-f]{64})\.json/.exec(JSON.stringify(Properties["TemplateURL"]))?.[1] ?? "none";
      const file = files[hash]?.source.path;
      if (file === undefined) throw new Error(`${id} has no template among the assets of ${stackName}`);
      return [id, StackTemplate.parse(read(file))] as const;
    });
  return { main, nested: new Map(nested) };
}

/**
 * Reads a synthesized stack as one template: the resources of its nested stacks stand among its own.
 * @throws Error when two of its templates use the same logical id
 */
export function flatTemplate(folder: string, stackName: string): Omit<StackTemplate, "Parameters"> {
  const { main, nested } = stackTemplates(folder, stackName);
  const { Resources, Outputs } = main;
  for (const [id, inner] of nested) {
    const parameters = z.record(z.string(), z.unknown()).parse(Resources[id]?.Properties["Parameters"] ?? {});
    delete Resources[id];
    for (const [innerId, resource] of Object.entries(inner.Resources)) {
      if (innerId in Resources) throw new Error(`both ${stackName} and ${id} have a resource ${innerId}`);
      Resources[innerId] = Resource.parse(withParameters(resource, parameters));
    }
  }
  return StackTemplate.parse(withOutputs({ Resources, Outputs }, nested));
}

/** Replaces the references in a part of a template for which the function returns a value. */
function replaced(part: unknown, replacement: (name: string, argument: unknown) => unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((each) => replaced(each, replacement));
  const entries = Object.entries(part);
  const [[name, argument] = [""], ...others] = entries;
  const instead = others.length === 0 ? replacement(name, argument) : undefined;
  if (instead !== undefined) return instead;
  return Object.fromEntries(entries.map(([key, value]) => [key, replaced(value, replacement)]));
}

function withParameters(part: unknown, parameters: Readonly<Record<string, unknown>>): unknown {
  return replaced(part, (name, argument) => (name === "Ref" ? parameters[String(argument)] : undefined));
}

function withOutputs(part: unknown, nested: StackTemplates["nested"]): unknown {
  return replaced(part, (name, argument) => {
    if (name !== "Fn::GetAtt" || !Array.isArray(argument)) return undefined;
    const [id, attribute] = argument.map(String);
    return nested.get(id ?? "")?.Outputs[(attribute ?? "").replace("Outputs.", "")]?.Value;
  });
}
