import type { Key } from "aws-cdk-lib/aws-kms";
import type { LayerVersion } from "aws-cdk-lib/aws-lambda";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import type { ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";

import type { QueueName } from "../../../shared/platform/queue-names.ts";
import type { Stage } from "../stages/stage.ts";
import type { GatewayTable } from "./gateway-table.ts";
import type { GradualDeployments } from "./gradual-deployments.ts";
import type { JobQueue } from "./job-queue.ts";

/** The resources that the functions share. */
export interface Backend {
  readonly stage: Stage;
  readonly table: GatewayTable;
  /** The PDFs of invoices. */
  readonly documents: Pick<Bucket, "bucketArn" | "bucketName" | "encryptionKey" | "node">;
  /** The fonts of these PDFs. */
  readonly fonts: LayerVersion;
  readonly queues: Readonly<Record<QueueName, JobQueue>>;
  /** The keys of session tokens. The first one signs, and all verify. */
  readonly sessionKeys: readonly [Key, ...Key[]];
  /** Seals the secrets of webhooks. */
  readonly webhookKey: Pick<ISecret, "secretArn">;
  /** The URL of the API for customers. */
  readonly apiUrl: string;
  /** Seals the secrets of second factors. */
  readonly secondFactorKey: Pick<ISecret, "secretArn">;
  /** Derives and seals the codes of verifications. */
  readonly verificationKey: Pick<ISecret, "secretArn">;
  /** The key that CloudFront sends to the API, where a stage has a firewall. */
  readonly originKey: Secret | undefined;
  /** Where the stage has gradual deployment. */
  readonly deployments: GradualDeployments | undefined;
}
