/* Stands in for the module that reads and writes the objects of a bucket. */

/** The objects of all buckets, by their keys. */
export const bucket = new Map<string, Uint8Array>();

export async function writeOnce({ Key }: { readonly Key: string }, body: Uint8Array): Promise<void> {
  if (!bucket.has(Key)) bucket.set(Key, body);
}

export const readObject = async ({ Key }: { readonly Key: string }) => bucket.get(Key);
