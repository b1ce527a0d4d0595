/** A map of what an instance of a function remembers. When it is full, the entry that was set first is dropped. */
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
