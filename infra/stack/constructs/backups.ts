import { Aws, Duration, Fn, Validations } from "aws-cdk-lib";
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from "aws-cdk-lib/aws-backup";
import { Schedule } from "aws-cdk-lib/aws-events";
import { Construct } from "constructs";

import type { Stage } from "../stages/stage.ts";
import type { GatewayTable } from "./gateway-table.ts";
import { kept } from "./removal-policy.ts";

/** Daily copies of the table in a vault that outlives the stack, and in another account or region if the stage configures one. */
export class Backups extends Construct {
  constructor(
    scope: Construct,
    id: string,
    stageName: string,
    { retentionDays, copyToVaultArn }: NonNullable<Stage["backups"]>,
    table: GatewayTable,
  ) {
    super(scope, id);
    // The vault of a lost stack still has its name, so this part of the name is unique to the stack.
    const stackUuid = Fn.select(2, Fn.split("/", Aws.STACK_ID));
    const vault = new BackupVault(this, "Vault", {
      backupVaultName: `sms-gateway-${stageName}-${Fn.select(0, Fn.split("-", stackUuid))}`,
      removalPolicy: kept,
    });
    const deleteAfter = Duration.days(retentionDays);
    const copyTo =
      copyToVaultArn === undefined
        ? undefined
        : BackupVault.fromBackupVaultArn(this, "CopyVault", copyToVaultArn);
    const plan = new BackupPlan(this, "Plan", {
      backupVault: vault,
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: "daily",
          scheduleExpression: Schedule.cron({ hour: "3", minute: "0" }),
          deleteAfter,
          ...(copyTo === undefined ? {} : { copyActions: [{ destinationBackupVault: copyTo, deleteAfter }] }),
        }),
      ],
    });
    plan.addSelection("Table", { resources: [BackupResource.fromArn(table.tableArn)] });
    const policy = "service-role/AWSBackupServiceRolePolicyForBackup";
    Validations.of(plan).acknowledge({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
      reason: "AWS keeps up what AWS Backup needs, and only AWS Backup may take the role.",
    });
  }
}
