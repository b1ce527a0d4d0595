import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, BillingMode, ProjectionType, Table } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";

import { agendaIndex } from "../../shared/platform/table/keys.ts";
import type { Stage } from "../stages/stage.ts";

/** The one table. Its keys are described in `shared/platform/table/keys.ts`. */
export class GatewayTable extends Table {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      partitionKey: { name: "pk", type: AttributeType.STRING },
      sortKey: { name: "sk", type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      timeToLiveAttribute: "expiresAt",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: stage.keepData,
      removalPolicy: stage.keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.addGlobalSecondaryIndex({
      indexName: agendaIndex.name,
      partitionKey: { name: agendaIndex.partitionKey, type: AttributeType.STRING },
      sortKey: { name: agendaIndex.sortKey, type: AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    });
  }
}
