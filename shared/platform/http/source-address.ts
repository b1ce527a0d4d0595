import type { APIGatewayProxyEventV2 } from "aws-lambda";

import { config, viewerAddressHeader } from "../config.ts";

/**
 * Returns the address that a request came from. On a stage with a firewall, each request comes from CloudFront, which sets a
 * header with its caller's address. On other stages the caller controls the header, so it is ignored.
 */
export function sourceAddress({ headers, requestContext }: APIGatewayProxyEventV2): string {
  const { sourceIp } = requestContext.http;
  return config.behindFirewall() ? (headers[viewerAddressHeader] ?? sourceIp) : sourceIp;
}
