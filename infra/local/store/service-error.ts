/** Something that DynamoDB refuses: the type and the words of its answer, and what else the answer carries. */
export class ServiceError extends Error {
  /** Without a namespace, for example `ConditionalCheckFailedException`. */
  readonly type: string;
  /** Further fields of the answer: `Item`, `CancellationReasons`. */
  readonly details: object;

  constructor(type: string, message: string, details: object = {}) {
    super(message);
    this.type = type;
    this.details = details;
  }
}

/** A request that is wrong by itself or for the items that it names. */
export function validationError(message: string): ServiceError {
  return new ServiceError("ValidationException", message);
}

/** A value that an operation does not take, in the words for parameters. */
export function invalidParameter(message: string): ServiceError {
  return validationError(`One or more parameter values were invalid: ${message}`);
}
