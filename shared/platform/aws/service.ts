/** The properties of an AWS service that its client needs. */
export interface AwsService {
  /** The end of the environment variable with its endpoint: `AWS_ENDPOINT_URL_<ID>`. */
  readonly id: string;
  /** The first part of its host names. */
  readonly hostPrefix: string;
  readonly signingName: string;
  /** The prefix of the operation in `X-Amz-Target`. A service without one distinguishes requests by their paths. */
  readonly target?: string;
  readonly contentType:
    | "application/json"
    | "application/octet-stream"
    | "application/x-amz-json-1.0"
    | "application/x-amz-json-1.1";
}
