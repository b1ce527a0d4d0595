import { CfnAuthorizer, type CfnRouteProps, type HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

import { environmentNames, originKeyHeader } from "../../shared/platform/config.ts";
import { ApiCaller } from "./api-caller.ts";
import { GatewayFunction, type Backend } from "./gateway-function.ts";

/** The longest that API Gateway remembers that a key was right. */
const rememberedSeconds = 3_600;

export interface OriginCheckProps {
  readonly api: HttpApi;
  readonly originKey: Secret;
  readonly logs: LogGroup;
}

/**
 * Lets an API be called through CloudFront only, which brings along a key that nobody else has. API Gateway refuses a
 * request without a key by itself, and remembers for which key a function has said that it is right: what comes
 * through CloudFront waits for the function once an hour.
 */
export class OriginCheck extends Construct {
  /** What a route says to be behind the check. */
  readonly authorization: Required<Pick<CfnRouteProps, "authorizationType" | "authorizerId">>;

  constructor(scope: Construct, id: string, backend: Backend, props: OriginCheckProps) {
    super(scope, id);
    const { api, originKey, logs } = props;
    const handler = new GatewayFunction(this, "Check", backend, {
      name: "checkOrigin",
      handlerFile: "firewall/check-origin",
      accessRow: "infra/constructs/origin-check.ts",
      access: {},
      timeoutSeconds: 5,
      memoryMegabytes: 512,
      logs,
    });
    handler.allow(["secretsmanager:GetSecretValue"], originKey.secretArn);
    handler.lambda.addEnvironment(environmentNames.originKeySecretId, originKey.secretArn);
    const caller = new ApiCaller(this, "Caller");
    caller.allow(handler);
    const { region, partition } = api.stack;
    const functionArn = handler.lambda.functionArn;
    const authorizer = new CfnAuthorizer(this, "Authorizer", {
      apiId: api.apiId,
      name: "origin",
      authorizerType: "REQUEST",
      authorizerPayloadFormatVersion: "2.0",
      enableSimpleResponses: true,
      identitySource: [`$request.header.${originKeyHeader}`],
      authorizerResultTtlInSeconds: rememberedSeconds,
      authorizerUri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${functionArn}/invocations`,
      authorizerCredentialsArn: caller.roleArn,
    });
    this.authorization = { authorizationType: "CUSTOM", authorizerId: authorizer.ref };
  }
}
