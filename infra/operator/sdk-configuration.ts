import type { CloudFormationClient } from "@aws-sdk/client-cloudformation";

import { useCredentials } from "../../shared/platform/aws/credentials.ts";

/**
 * Lets the shared code ask AWS with the credentials and in the region that the SDK has found, which may come from a
 * profile: by itself it knows the environment alone, as a function does.
 */
export async function useConfigurationOf({
  config: { credentials, region },
}: Pick<CloudFormationClient, "config">): Promise<void> {
  useCredentials(credentials);
  process.env["AWS_REGION"] = await region();
}
