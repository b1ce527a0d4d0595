import { CfnAuthorizer, type CfnRouteProps, type HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";

import { environmentNames, originKeyHeader } from "../../../shared/platform/config.ts";
import { Access } from "../access.ts";
import { ApiCaller } from "./api-caller.ts";
import type { Backend } from "./backend.ts";
import { GatewayFunction } from "./gateway-function.ts";

/** The longest time for which API Gateway caches the result of a check. */
const rememberedSeconds = 3_600;

export interface OriginCheckProps {
  readonly api: HttpApi;
  readonly originKey: Secret;
  readonly logs: LogGroup;
}

/**
 * Restricts an API to requests through CloudFront, which adds a secret key. API Gateway rejects a request without a key by
 * itself. It caches for which key the function returned success, so requests through CloudFront wait for it once an hour.
 */
export class OriginCheck extends Construct {
  /** The properties of a route that is protected by the check. */
  readonly authorization: Required<Pick<CfnRouteProps, "authorizationType" | "authorizerId">>;

  constructor(scope: Construct, id: string, backend: Backend, props: OriginCheckProps) {
    super(scope, id);
    const { api, originKey, logs } = props;
    const handler = new GatewayFunction(this, "Check", backend, {
      name: "checkOrigin",
      handlerFile: "firewall/check-origin",
      access: new Access("checkOrigin"),
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
