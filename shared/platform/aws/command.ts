/** A request to AWS: its operation with the input, and the type of its output. */
export abstract class AwsCommand<Input extends object = object, Output extends object = object> {
  /** Only a type. */
  declare readonly output?: Output;
  /** The name that AWS has for it, for example `GetItem`. */
  abstract readonly operation: string;
  readonly path: string = "/";
  readonly input: Input;

  constructor(input: Input) {
    this.input = input;
  }
}
