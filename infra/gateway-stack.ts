import { CfnOutput, NestedStack, RemovalPolicy, Stack, Validations, type App } from "aws-cdk-lib";
import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";

import { Alarms } from "./constructs/alarms.ts";
import { Backups } from "./constructs/backups.ts";
import { addBudget } from "./constructs/budget.ts";
import { addDashboard } from "./constructs/dashboard.ts";
import { Edge, type Firewall } from "./constructs/edge.ts";
import { FirewallStack } from "./constructs/firewall-stack.ts";
import { GatewayApi } from "./constructs/gateway-api.ts";
import type { Backend } from "./constructs/gateway-function.ts";
import { gatewayTable } from "./constructs/gateway-table.ts";
import { addQueues, addWorkers } from "./constructs/gateway-workers.ts";
import { GradualDeployments } from "./constructs/gradual-deployments.ts";
import { outputNames } from "./constructs/stack-outputs.ts";
import { addStageAlarms } from "./constructs/stage-alarms.ts";
import type { Stage } from "./stages/stage.ts";

/**
 * The whole gateway of one stage: what the functions share, then a function for each row of the route table and of the
 * table of workers.
 */
export class GatewayStack extends Stack {
  constructor(app: App, id: string, stage: Stage) {
    const { account, region, keepData, gradualDeployment, tags } = stage;
    super(app, id, {
      env: { ...(account === undefined ? {} : { account }), ...(region === undefined ? {} : { region }) },
      terminationProtection: keepData,
      tags: { ...tags, stage: stage.name },
    });
    // CloudFormation takes 500 resources in a stack. What only watches the others is in one of its own, which is deployed,
    // taken back and deleted with this one.
    const monitoring = new NestedStack(this, "Monitoring", {
      description: "Alarms, the dashboard and what lets new code in gradually",
    });
    const alarms = new Alarms(this, "Alarms", { stage, monitoring });
    // Its id is another than that of the secret which older releases signed with: CloudFormation changes no type.
    const sessionKey = new Key(this, "SessionSigningKey", {
      description: "Signs the session tokens of customers",
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      // With another key customers log in once more, which they do each hour. It is kept all the same: what is deleted by
      // mistake cannot be made again, and until the next deployment nobody could log in.
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const table = gatewayTable(this, stage);
    const webhookKey = this.#webhookKey(stage);
    const secondFactorKey = this.#secondFactorKey(stage);
    if (stage.backups !== undefined) new Backups(this, "Backups", stage.name, stage.backups, table);
    const queues = addQueues(this, stage, alarms);
    const firewall = stage.firewall && this.#firewall(app, stage, stage.firewall);
    const deployments = gradualDeployment
      ? new GradualDeployments(monitoring, "Deployments", alarms)
      : undefined;
    const backend = {
      stage,
      table,
      sessionKey,
      webhookKey,
      secondFactorKey,
      queues,
      originKey: firewall?.originKey,
      deployments,
    };
    const api = new GatewayApi(this, "Api", backend);
    const edge = new Edge(this, "Edge", { api, domain: stage.domain, firewall });
    addWorkers(this, { ...backend, apiUrl: edge.url }, alarms);
    addStageAlarms({ stage, api, table, alarms });
    const dashboard = addDashboard(monitoring, { stage, api, table, queues, alarms });
    addBudget(this, stage);
    new CfnOutput(this, outputNames.apiUrl, { value: edge.url });
    new CfnOutput(this, outputNames.tableName, { value: table.tableName });
    new CfnOutput(this, outputNames.webhookKeyArn, { value: webhookKey.secretArn });
    new CfnOutput(this, outputNames.secondFactorKeyArn, { value: secondFactorKey.secretArn });
    if (stage.messageRetentionDays !== undefined) {
      new CfnOutput(this, outputNames.messageRetentionDays, { value: String(stage.messageRetentionDays) });
    }
    new CfnOutput(this, "AlarmTopicArn", { value: alarms.topicArn });
    new CfnOutput(this, "DashboardName", { value: dashboard.dashboardName });
  }

  /** The key of the secrets of webhooks, which belongs to the table: whatever is restored or adopted needs it. */
  #webhookKey({ adoptWebhookKey, keepData }: Stage): Backend["webhookKey"] {
    if (adoptWebhookKey !== undefined) {
      return Secret.fromSecretCompleteArn(this, "AdoptedWebhookKey", adoptWebhookKey);
    }
    const webhookKey = new Secret(this, "WebhookKey", {
      description: "Seals the signing secrets of webhooks in the table",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(webhookKey).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "With a new key no secret in the table can be read, and each customer would have to replace theirs. The runbook " +
        "says what to do when it is known to others.",
    });
    return webhookKey;
  }

  /** The key of the secrets of second factors. It belongs to the table too. */
  #secondFactorKey({ adoptSecondFactorKey, keepData }: Stage): Backend["secondFactorKey"] {
    if (adoptSecondFactorKey !== undefined) {
      return Secret.fromSecretCompleteArn(this, "AdoptedSecondFactorKey", adoptSecondFactorKey);
    }
    const secondFactorKey = new Secret(this, "SecondFactorKey", {
      description: "Seals the secrets of second factors in the table",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    Validations.of(secondFactorKey).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "With a new key no code of an app could be checked, and each user would need a recovery code to get in.",
    });
    return secondFactorKey;
  }

  #firewall(app: App, stage: Stage, settings: NonNullable<Stage["firewall"]>): Firewall {
    const firewallStack = new FirewallStack(app, `${this.node.id}-firewall`, stage, settings);
    this.addStackDependency(firewallStack);
    const originKey = new Secret(this, "OriginKey", {
      description: "Shows the API that a request came through CloudFront",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    Validations.of(originKey).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "It guards no data, only the way past the firewall, and CloudFront would have to change it at the same moment.",
    });
    return { webAclArn: firewallStack.webAclArn, originKey };
  }
}
