import { Stage } from "aws-cdk-lib";
import { CfnGlobalTable } from "aws-cdk-lib/aws-dynamodb";

// Gives the table another sort key, which CloudFormation can only do with a new table. A deployment loads this file first.

const synth: Stage["synth"] = Reflect.get(Stage.prototype, "synth");

function synthWithChangedTable(this: Stage, ...options: unknown[]): unknown {
  for (const construct of this.node.findAll()) {
    if (!(construct instanceof CfnGlobalTable)) continue;
    construct.addPropertyOverride("AttributeDefinitions.1.AttributeName", "sort");
    construct.addPropertyOverride("KeySchema.1.AttributeName", "sort");
  }
  return Reflect.apply(synth, this, options);
}

Object.assign(Stage.prototype, { synth: synthWithChangedTable });
