import { copyFile, glob, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import * as z from "zod/mini";

import type { localAssembly } from "../../infra/local/synthesize.ts";

const Template = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
});
type Resource = z.infer<typeof Template>["Resources"][string];

const Environment = z.object({ Variables: z.record(z.string(), z.unknown()) });

/** A copy of a synthesized stack, like `changedAssembly`, whose functions get other environment variables. */
export async function assemblyWithVariables(
  assembly: typeof localAssembly,
  variables: Readonly<Record<string, string>>,
): Promise<typeof localAssembly> {
  return changedAssembly(assembly, ({ Type, Properties }) => {
    if (Type !== "AWS::Lambda::Function") return;
    const { Variables } = Environment.parse(Properties["Environment"]);
    Properties["Environment"] = { Variables: { ...Variables, ...variables } };
  });
}

/**
 * A copy of a synthesized stack whose resources are changed: what a test wants to see go wrong, or sooner. Its bundles are
 * links to those of the original.
 * @returns it as `startLocalGateway` takes it; the folder is the caller's to remove
 */
export async function changedAssembly(
  assembly: typeof localAssembly,
  change: (resource: Resource) => void,
): Promise<typeof localAssembly> {
  const assemblyFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-assembly-"));
  for (const entry of await readdir(assembly.assemblyFolder, { withFileTypes: true })) {
    const source = path.resolve(assembly.assemblyFolder, entry.name);
    const target = path.join(assemblyFolder, entry.name);
    if (entry.isFile()) await copyFile(source, target);
    else await symlink(source, target, "junction");
  }
  for await (const name of glob("*.template.json", { cwd: assemblyFolder })) {
    const file = path.join(assemblyFolder, name);
    const template = Template.parse(JSON.parse(await readFile(file, "utf8")));
    for (const resource of Object.values(template.Resources)) change(resource);
    await writeFile(file, JSON.stringify(template));
  }
  return { ...assembly, assemblyFolder };
}
