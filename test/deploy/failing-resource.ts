import { CfnResource, Stack, Stage } from "aws-cdk-lib";
import { CfnPolicy } from "aws-cdk-lib/aws-iam";

// Adds a resource whose creation fails after all resources with data, as one beyond a quota can. A deployment loads this file first.

const synth: Stage["synth"] = Reflect.get(Stage.prototype, "synth");

/** The types of resources that a stage with data keeps. */
const kept = /^AWS::(DynamoDB::GlobalTable|KMS::Key|Logs::LogGroup|S3::Bucket|SecretsManager::Secret)$/;

function synthWithFailingResource(this: Stage, ...options: unknown[]): unknown {
  for (const stack of this.node.findAll()) {
    if (!(stack instanceof Stack) || stack.nested || stack.stackName.endsWith("-firewall")) continue;
    if (stack.node.tryFindChild("Failing") !== undefined) continue;
    const failing = new CfnPolicy(stack, "Failing", {
      policyName: "failing",
      roles: ["missing"],
      policyDocument: { Version: "2012-10-17", Statement: [] },
    });
    for (const construct of stack.node.findAll()) {
      if (!(construct instanceof CfnResource) || construct.stack !== stack) continue;
      if (kept.test(construct.cfnResourceType)) failing.addResourceDependency(construct);
    }
  }
  return Reflect.apply(synth, this, options);
}

Object.assign(Stage.prototype, { synth: synthWithFailingResource });
