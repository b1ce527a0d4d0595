/**
 * What an operator asked for is refused, and nothing was changed. Its message is for them. The audit log has it as `refused`;
 * of any other error it is not known how far the work came.
 */
export class Refusal extends Error {
  override readonly name: string = "Refusal";
}
