/** An error of DynamoDB or SQS: its type, its message and further fields of the response. */
export class ServiceError extends Error {
  /** Without a namespace, for example `ConditionalCheckFailedException`. */
  readonly type: string;
  /** Further fields of the response: `Item`, `CancellationReasons`. */
  readonly details: object;

  constructor(type: string, message: string, details: object = {}) {
    super(message);
    this.type = type;
    this.details = details;
  }
}

/** The error for an invalid request. */
export function validationError(message: string): ServiceError {
  return new ServiceError("ValidationException", message);
}

/** The error for an invalid value of a parameter. */
export function invalidParameter(message: string): ServiceError {
  return validationError(`One or more parameter values were invalid: ${message}`);
}
