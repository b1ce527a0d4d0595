import { RequestError } from "../../../shared/api/client/client.ts";
import type { Contact } from "../../../shared/api/contract/contacts.ts";
import { api } from "./api.ts";

/** Removes a tag from a contact. Tags that another person changed meanwhile stay as they are. */
export async function untag(contact: Contact, tag: string): Promise<void> {
  const params = { id: contact.id };
  const remove = async ({ tags, version }: Contact): Promise<unknown> =>
    api().updateContact({ params, body: { tags: tags.filter((each) => each !== tag), version } });
  await remove(contact).catch(async (error: unknown) => {
    if (!(error instanceof RequestError && error.code === "CONFLICT")) throw error;
    await remove(await api().getContact({ params }));
  });
}
