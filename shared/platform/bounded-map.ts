/** The memory of one instance of a function, by key. A full map drops the entry whose last `set` is the oldest. */
export class BoundedMap<Value> extends Map<string, Value> {
  readonly #maxSize: number;

  constructor(maxSize = 10_000) {
    super();
    this.#maxSize = maxSize;
  }

  override set(key: string, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [first = key] = this.keys();
    if (this.size > this.#maxSize) this.delete(first);
    return this;
  }
}
