import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { inject } from "vitest";

import { useConfigurationOf } from "../../infra/operator/sdk-configuration.ts";

/*
 * Lets domain code run inside a test as the operator's commands do: with the table and the credentials of a stage that
 * is deployed. It queues nothing, for the stage's workers would take it.
 */

// Those of the local gateway would come before a profile that the stage's environment names.
delete process.env["AWS_ACCESS_KEY_ID"];
delete process.env["AWS_SECRET_ACCESS_KEY"];
Object.assign(process.env, inject("stageEnvironment"));
await useConfigurationOf(new CloudFormationClient({}));
