import { fontsFolder } from "@sms-gateway/build/bundle-folder.ts";
import { releaseText } from "@sms-gateway/build/release/release.ts";
import { CfnOutput, NestedStack, Stack, type App } from "aws-cdk-lib";
import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { Code, LayerVersion } from "aws-cdk-lib/aws-lambda";

import { Alarms } from "./constructs/alarms.ts";
import { Backups } from "./constructs/backups.ts";
import { addBudget } from "./constructs/budget.ts";
import { addDashboard } from "./constructs/dashboard.ts";
import { documentsBucket } from "./constructs/documents-bucket.ts";
import { Edge, type Firewall } from "./constructs/edge.ts";
import { FirewallStack } from "./constructs/firewall-stack.ts";
import { GatewayApi } from "./constructs/gateway-api.ts";
import { gatewayTable } from "./constructs/gateway-table.ts";
import { addQueues, addWorkers } from "./constructs/gateway-workers.ts";
import { GradualDeployments } from "./constructs/gradual-deployments.ts";
import { addOperatorPolicies } from "./constructs/operator-policies.ts";
import { removalPolicyOf } from "./constructs/removal-policy.ts";
import { generatedSecret, sealingKey, verificationKey } from "./constructs/sealing-key.ts";
import { outputNames } from "./constructs/stack-outputs.ts";
import { addStageAlarms } from "./constructs/stage-alarms.ts";
import { addWarnings } from "./constructs/stage-warnings.ts";
import type { Stage } from "./stages/stage.ts";

/**
 * The whole gateway of one stage: the resources that functions share, and the functions. Each row of the route table and of
 * the table of workers has one.
 */
export class GatewayStack extends Stack {
  constructor(app: App, id: string, stage: Stage) {
    const { account, region, keepData, gradualDeployment, tags } = stage;
    super(app, id, {
      env: { ...(account === undefined ? {} : { account }), ...(region === undefined ? {} : { region }) },
      terminationProtection: keepData,
      tags: { ...tags, stage: stage.name },
    });
    addWarnings(this, stage);
    // CloudFormation accepts 500 resources in a stack. So the alarms and the endpoints are in nested stacks, which are
    // deployed, rolled back and deleted with this one.
    const monitoring = new NestedStack(this, "Monitoring", {
      description: "The alarms, the dashboard and the deployment groups of workers",
    });
    const alarms = new Alarms(this, "Alarms", { stage, monitoring });
    const [signing, ...verifying] = stage.sessionKeys;
    const sessionKey = (name: string): Key =>
      new Key(this, `SessionSigningKey${name}`, {
        description: "Signs the session tokens of customers",
        // It signs with ES256, which needs this curve.
        keySpec: KeySpec.ECC_NIST_P256,
        keyUsage: KeyUsage.SIGN_VERIFY,
        // After a loss of the key no one could log in until the next deployment, so a stage that keeps its data keeps it.
        removalPolicy: removalPolicyOf(stage),
      });
    const sessionKeys = [sessionKey(signing ?? ""), ...verifying.map(sessionKey)] as const;
    const table = gatewayTable(this, stage);
    const webhookKey = sealingKey(this, "WebhookKey", stage);
    const secondFactorKey = sealingKey(this, "SecondFactorKey", stage);
    if (stage.backups !== undefined) new Backups(this, "Backups", stage.name, stage.backups, table);
    const queues = addQueues(this, stage, alarms);
    const firewall = stage.firewall && this.#firewall(app, stage, stage.firewall);
    const deployments = gradualDeployment ? new GradualDeployments(this, "Deployments", alarms) : undefined;
    const api = new GatewayApi(this, "Api", stage);
    const edge = new Edge(this, "Edge", { api, domain: stage.domain, firewall });
    const backend = {
      stage,
      apiUrl: edge.url,
      table,
      documents: documentsBucket(this, stage),
      fonts: new LayerVersion(this, "Fonts", {
        description: "The fonts of invoices",
        code: Code.fromAsset(fontsFolder),
      }),
      sessionKeys,
      webhookKey,
      secondFactorKey,
      verificationKey: verificationKey(this),
      queues,
      originKey: firewall?.originKey,
      deployments,
    };
    api.addEndpoints(backend);
    addWorkers(this, backend, alarms);
    addOperatorPolicies(this, backend, [alarms.topicArn, alarms.pages.topicArn]);
    addStageAlarms({ stage, api, table, alarms });
    alarms.addOutage();
    const dashboard = addDashboard(monitoring, { stage, api, table, queues, alarms });
    addBudget(this, stage);
    const { bankTransfer: _text, ...payments } = stage.payments;
    const outputs = {
      [outputNames.apiUrl]: edge.url,
      // Only this output has the release, so a commit that changes no resource updates none.
      [outputNames.release]: releaseText(),
      [outputNames.tableName]: table.tableName,
      [outputNames.stageName]: stage.name,
      [outputNames.currency]: stage.currency,
      [outputNames.documentsBucketName]: backend.documents.bucketName,
      [outputNames.paymentSettings]: JSON.stringify(payments),
      [outputNames.webhookKeyArn]: webhookKey.secretArn,
      [outputNames.secondFactorKeyArn]: secondFactorKey.secretArn,
      [outputNames.minimumMargin]: stage.minimumMargin > 0 ? String(stage.minimumMargin) : undefined,
      [outputNames.priceNoticeDays]: stage.priceNoticeDays?.toString(),
      [outputNames.secondPersonAbove]: stage.secondPersonAbove,
      [outputNames.messageRetentionDays]: stage.messageRetentionDays?.toString(),
      [outputNames.alarmTopicArn]: alarms.topicArn,
      [outputNames.pageTopicArn]: alarms.pages.topicArn,
      DashboardName: dashboard.dashboardName,
    };
    for (const [name, value] of Object.entries(outputs)) {
      if (value !== undefined) new CfnOutput(this, name, { value });
    }
  }

  #firewall(app: App, stage: Stage, settings: NonNullable<Stage["firewall"]>): Firewall {
    const firewallStack = new FirewallStack(app, `${this.node.id}-firewall`, stage, settings);
    this.addStackDependency(firewallStack);
    const originKey = generatedSecret(this, "OriginKey", {
      description: "Proves to the API that a request came through CloudFront",
      reason:
        "It protects no data, only the way around the firewall, and CloudFront would have to change it at the same time.",
    });
    return { webAclArn: firewallStack.webAclArn, originKey };
  }
}
