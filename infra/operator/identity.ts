import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";

import type { Stage } from "../stages/stage.ts";

/**
 * Who carries out a command, for the audit log: with whose credentials of AWS. The gateway on a laptop asks nobody for
 * any.
 * @throws Error when AWS does not say
 */
export async function operatorIdentity(stage: Stage | undefined): Promise<string> {
  if (stage === undefined) return "local operator";
  const { Arn } = await new STSClient({}).send(new GetCallerIdentityCommand({}));
  if (Arn === undefined) throw new Error("AWS does not say whose credentials these are.");
  return Arn;
}
