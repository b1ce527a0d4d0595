import { Validations } from "aws-cdk-lib";
import { Key } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";

import type { Stage } from "../stages/stage.ts";
import { kept } from "./removal-policy.ts";

/**
 * Returns the bucket for the PDFs of invoices. It outlives every stack: customers keep their invoices for years, and
 * CloudFormation cannot delete a bucket with objects.
 */
export function documentsBucket(scope: Construct, { encryptionKeyArn }: Stage): Bucket {
  const bucket = new Bucket(scope, "Documents", {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    ...(encryptionKeyArn === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : {
          encryption: BucketEncryption.KMS,
          encryptionKey: Key.fromKeyArn(scope, "DocumentsKey", encryptionKeyArn),
          bucketKeyEnabled: true,
        }),
    removalPolicy: kept,
  });
  Validations.of(bucket).acknowledge({
    id: "AwsSolutions-S1",
    reason:
      "Only functions read and write it, for requests that are in the access log of the API and in the functions' logs.",
  });
  return bucket;
}
