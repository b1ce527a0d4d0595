import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Stage } from "@sms-gateway/stack/stages/stage.ts";

/** The name of the operator of the local gateway, which needs no credentials. */
export function localOperator(): string {
  return process.env["LOCAL_OPERATOR"] ?? "local operator";
}

/**
 * The operator's identity: the ARN of their AWS credentials.
 * @throws Error when AWS returns none
 */
export async function operatorIdentity(stage: Stage | undefined): Promise<string> {
  if (stage === undefined) return localOperator();
  const { Arn } = await new STSClient({}).send(new GetCallerIdentityCommand({}));
  if (Arn === undefined) throw new Error("AWS did not return the identity of your credentials.");
  return Arn;
}
