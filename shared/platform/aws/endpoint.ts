import { BoundedMap } from "../bounded-map.ts";
import type { AwsService } from "./service.ts";

/** The partitions of AWS, by the start of their regions' names. All other regions are commercial. */
const partitions = [
  { regions: /^cn-/, suffix: "amazonaws.com.cn", dualStackSuffix: "api.amazonwebservices.com.cn" },
  { regions: /^eusc-/, suffix: "amazonaws.eu", dualStackSuffix: "api.amazonwebservices.eu" },
  { regions: /^us-iso-/, suffix: "c2s.ic.gov", dualStackSuffix: "api.aws.ic.gov" },
  { regions: /^us-isob-/, suffix: "sc2s.sgov.gov", dualStackSuffix: "api.aws.scloud" },
  { regions: /^eu-isoe-/, suffix: "cloud.adc-e.uk", dualStackSuffix: "api.cloud-aws.adc-e.uk" },
  { regions: /^us-isof-/, suffix: "csp.hci.ic.gov", dualStackSuffix: "api.aws.hci.ic.gov" },
  { regions: /^/, suffix: "amazonaws.com", dualStackSuffix: "api.aws" },
] as const;

const endpoints = new BoundedMap<URL>(100);

/**
 * Returns the endpoint of a service: the one that the environment names for it or for all services, or else that of the region.
 * As with the SDK, the environment may select endpoints with FIPS validation, or with IPv6.
 */
export function endpointOf({ id, hostPrefix }: Pick<AwsService, "hostPrefix" | "id">, region: string): URL {
  const { AWS_USE_FIPS_ENDPOINT, AWS_USE_DUALSTACK_ENDPOINT } = process.env;
  const address =
    namedEndpoint(id) ||
    addressOf(hostPrefix, region, {
      isFips: AWS_USE_FIPS_ENDPOINT === "true",
      isDualStack: AWS_USE_DUALSTACK_ENDPOINT === "true",
    });
  const known = endpoints.get(address);
  if (known !== undefined) return known;
  const endpoint = new URL(address);
  endpoints.set(address, endpoint);
  return endpoint;
}

/** Returns the endpoint that the environment names for a service; empty or undefined for none. */
export function namedEndpoint(id: string): string | undefined {
  return process.env[`AWS_ENDPOINT_URL_${id}`] || process.env["AWS_ENDPOINT_URL"];
}

function addressOf(
  hostPrefix: string,
  region: string,
  { isFips, isDualStack }: { readonly isFips: boolean; readonly isDualStack: boolean },
): string {
  const { suffix, dualStackSuffix } = partitions.find(({ regions }) => regions.test(region)) ?? partitions[6];
  // In GovCloud the ordinary names of these have FIPS validation.
  const isValidated = !isDualStack && region.startsWith("us-gov-") && /^(dynamodb|sqs)$/.test(hostPrefix);
  // The ordinary name of Secrets Manager supports IPv6, in the partitions where it has one.
  const isReached =
    hostPrefix === "secretsmanager" &&
    (suffix === "amazonaws.com" || (suffix === "amazonaws.com.cn" && !isFips));
  // Those of S3 are older than the names of all other services with IPv6.
  if (hostPrefix === "s3" && isDualStack) {
    return `https://s3${isFips ? "-fips" : ""}.dualstack.${region}.${suffix}`;
  }
  const host = isFips && !isValidated ? `${hostPrefix}-fips` : hostPrefix;
  return `https://${host}.${region}.${isDualStack && !isReached ? dualStackSuffix : suffix}`;
}

/** @throws Error when the environment names none */
export function currentRegion(): string {
  const region = process.env["AWS_REGION"];
  if (region === undefined || region === "") throw new Error("Region is missing: AWS_REGION is not set");
  return region;
}
