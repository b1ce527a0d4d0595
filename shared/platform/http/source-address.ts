import type { APIGatewayProxyEventV2 } from "aws-lambda";

import { config, viewerAddressHeader } from "../config.ts";

/**
 * The address that a request came from. Behind the firewall each request comes from CloudFront, which has written into
 * a header who called it; without one the header is the caller's own, and counts for nothing.
 */
export function sourceAddress({ headers, requestContext }: APIGatewayProxyEventV2): string {
  const { sourceIp } = requestContext.http;
  return config.behindFirewall() ? (headers[viewerAddressHeader] ?? sourceIp) : sourceIp;
}
