import type { ResourceChange } from "@aws-sdk/client-cloudformation";

/** The types of resources with data or keys. They are never in a nested stack. */
export const keptTypes = /^AWS::(DynamoDB::(Global)?Table|KMS::Key|S3::Bucket|SecretsManager::Secret)$/;

/**
 * Returns why a deployment must stop: the resources with data or keys that it would delete, replace or release.
 * @param changes the changes of living stacks
 * @param allowed the logical ids of resources that may be lost
 */
export function stopReason(changes: ResourceChange[], allowed: readonly string[]): string | undefined {
  const addsTable = changes.some((change) => change.Action === "Add" && isTable(change));
  const losses = changes.flatMap((change) => {
    const { LogicalResourceId: id = "", ResourceType: type = "", PhysicalResourceId: name = "new" } = change;
    const loss = keptTypes.test(type) && !allowed.includes(id) ? lossBy(change, addsTable) : undefined;
    return loss === undefined ? [] : [{ id, text: `  ${id} (${type}, ${name}) ${loss}\n` }];
  });
  if (losses.length === 0) return undefined;
  return (
    "The deployment stops before it changes a living stack, because it would lose data or keys:\n" +
    losses.map(({ text }) => text).join("") +
    "Undo the change of the stage's file or of the sources that causes this. If you want it, save the data and add:\n" +
    `  ${losses.map(({ id }) => `--allow-replacement ${id}`).join(" ")}   (infra/RUNBOOK.md, Upgrade and roll back)`
  );
}

function isTable({ ResourceType = "" }: ResourceChange): boolean {
  return ResourceType.startsWith("AWS::DynamoDB::");
}

function lossBy(change: ResourceChange, addsTable: boolean): string | undefined {
  const { Action, Replacement, PolicyAction = "", Details = [] } = change;
  const isRetained = PolicyAction.endsWith("Retain");
  // A living stage has a table: its own, or an adopted one, which was checked.
  if (Action === "Add") return isTable(change) ? "is empty, and replaces the present table" : undefined;
  if (Action === "Remove" && isRetained && isTable(change) && !addsTable) return undefined;
  const fate = isRetained ? "leaves the stack" : "is deleted";
  if (Action === "Remove") return fate;
  const targets = Details.flatMap(({ Target = [] }) => Target);
  const causes = targets.filter((target) => target.RequiresRecreation !== "Never").map(({ Name }) => Name);
  if (Replacement === "True") return `is replaced by an empty one and ${fate}: ${causes.join(", ")}`;
  if (Replacement === "Conditional") return `may be replaced by an empty one: ${causes.join(", ")}`;
  // CloudFormation generates another value.
  return targets.some(({ Name }) => Name === "GenerateSecretString") ? "gets another value" : undefined;
}
