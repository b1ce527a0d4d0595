/** Replaces the value of a property. @returns what restores the old one */
export function replace(target: object, property: string, value: unknown): () => void {
  const original = Object.getOwnPropertyDescriptor(target, property);
  Object.defineProperty(target, property, { value, configurable: true, writable: true });
  return () => {
    if (original === undefined) Reflect.deleteProperty(target, property);
    else Object.defineProperty(target, property, original);
  };
}
