/**
 * A request of an operator is rejected, and nothing was changed. The message is for the operator. The audit log records it as
 * `refused`. After any other error it is unknown how far the work came.
 */
export class RejectedError extends Error {
  override readonly name: string = "RejectedError";
}
