import type { CloudFormationClient } from "@aws-sdk/client-cloudformation";

import { useCredentials } from "../../shared/platform/aws/credentials.ts";

/**
 * Configures the shared code with the credentials and the region that the SDK found, possibly in a profile. The shared
 * code itself reads environment variables only, as in a function.
 */
export async function useConfigurationOf({
  config: { credentials, region },
}: Pick<CloudFormationClient, "config">): Promise<void> {
  useCredentials(credentials);
  process.env["AWS_REGION"] = await region();
}
