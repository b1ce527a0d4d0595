import type { TypeRegistry } from "@smithy/core/schema";

/** What differs between the services of AWS, as far as a client of their JSON protocols has to know it. */
export interface AwsService {
  /** The end of the variable with an endpoint of its own: `AWS_ENDPOINT_URL_<ID>`. */
  readonly id: string;
  /** The first part of its host names. */
  readonly hostPrefix: string;
  readonly signingName: string;
  /** What stands before the operation in `X-Amz-Target`; a service without one takes requests by their paths. */
  readonly target?: string;
  readonly contentType: "application/json" | "application/x-amz-json-1.0" | "application/x-amz-json-1.1";
  /** The SDK's classes of the service's errors, by their names on the wire. */
  readonly errors: readonly TypeRegistry[];
}
