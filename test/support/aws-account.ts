import type { LocalGateway } from "../../infra/local/gateway.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { startHttpServer } from "./http-server.ts";

/** The identity whose credentials a program in the account has. */
export const identity = "arn:aws:sts::123456789012:assumed-role/Operator/grace";

/** The same identity, as SQS names the sender of a message. */
export const senderId = "AROA:grace";

/**
 * The part of an AWS account that the operator's programs use. Every stack is deployed, and refers to a gateway on this
 * machine.
 */
export async function startAwsAccount(gateway: LocalGateway): Promise<{
  /** The settings by which a program finds the stack, its table and its queues. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}> {
  const { url, stop } = await startHttpServer(({ body }, response) => {
    const asksWho = body.includes("Action=GetCallerIdentity");
    response.end(asksWho ? callerIdentityResponse : describeStacksResponse(gateway));
  });
  // The URL of a queue begins with that of the endpoint that names the sender of a message.
  const queue = gateway.stack.outputs.find(({ name }) => name === outputNames.queueUrl("auditEntries"));
  const aws = queue?.value.replace(/\/\d+\/[^/]+$/, "") ?? "";
  return {
    environment: {
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_SESSION_TOKEN: senderId,
      AWS_ENDPOINT_URL_CLOUDFORMATION: url,
      AWS_ENDPOINT_URL_STS: url,
      AWS_ENDPOINT_URL_DYNAMODB: gateway.dynamodbEndpoint,
      AWS_ENDPOINT_URL_SQS: aws,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: aws,
    },
    stop,
  };
}

const callerIdentityResponse =
  '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>' +
  `<Arn>${identity}</Arn><UserId>${senderId}</UserId><Account>123456789012</Account>` +
  "</GetCallerIdentityResult></GetCallerIdentityResponse>";

function describeStacksResponse(gateway: LocalGateway): string {
  const outputs = gateway.stack.outputs.map(({ name, value, description = "" }) => {
    const shown = name === outputNames.apiUrl ? gateway.url : value;
    return `<member><OutputKey>${name}</OutputKey><OutputValue>${shown}</OutputValue><Description>${description}</Description></member>`;
  });
  return (
    '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult>' +
    "<Stacks><member><StackName>sms-gateway-prod</StackName><CreationTime>2026-03-01T00:00:00Z</CreationTime>" +
    `<StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${outputs.join("")}</Outputs></member></Stacks>` +
    "</DescribeStacksResult></DescribeStacksResponse>"
  );
}
