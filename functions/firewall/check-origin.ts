import type { APIGatewayRequestAuthorizerEventV2, APIGatewaySimpleAuthorizerResult } from "aws-lambda";

import { isOriginKey } from "../../shared/platform/auth/origin-key.ts";

/** Decides for API Gateway whether a request came through CloudFront. */
export async function handler(
  event: APIGatewayRequestAuthorizerEventV2,
): Promise<APIGatewaySimpleAuthorizerResult> {
  return { isAuthorized: await isOriginKey(event.identitySource[0] ?? "") };
}
