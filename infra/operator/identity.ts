import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";

import type { Stage } from "../stages/stage.ts";

/**
 * The operator's identity for the audit log: the ARN of their AWS credentials. The local gateway needs no credentials.
 * @throws Error when AWS returns none
 */
export async function operatorIdentity(stage: Stage | undefined): Promise<string> {
  if (stage === undefined) return process.env["LOCAL_OPERATOR"] ?? "local operator";
  const { Arn } = await new STSClient({}).send(new GetCallerIdentityCommand({}));
  if (Arn === undefined) throw new Error("AWS did not return the identity of your credentials.");
  return Arn;
}
