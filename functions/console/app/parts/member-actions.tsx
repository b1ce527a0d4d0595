import type { Member } from "../../../../shared/api/contract/members.ts";
import { Role } from "../../../../shared/api/contract/scopes.ts";
import { api } from "../api.ts";
import { capitalized } from "../problems.ts";
import { clearSession, session } from "../session.ts";
import { Form, SelectField, TextField, useForm } from "./form.tsx";
import { confirmItem, dialogItem, type MenuItem } from "./menu.tsx";
import { announce, Notice } from "./notice.tsx";

const roleDescriptions: Readonly<Record<Role, string>> = {
  owner: "Full access.",
  admin: "Full access, except adding, changing or removing owners.",
  billing: "Payments, invoices and the wallet. Otherwise read-only access.",
  developer: "Full access, except to billing, business verification and members.",
  sender: "Messages, contacts, templates and campaigns. Otherwise read-only access.",
  viewer: "Read-only access.",
};

export function isYou({ id }: Member): boolean {
  return id === session.value?.user.id;
}

/** The options of a role field, and its hint for the chosen role. */
function roleChoice(roles: readonly Role[], chosen: string) {
  return {
    options: roles.map((role) => [role, capitalized(role)] as const),
    hint: roleDescriptions[Role.parse(chosen)],
  };
}

export function Invite({ roles, onInvited }: { roles: readonly Role[]; onInvited: () => Promise<void> }) {
  const form = useForm({ email: "", role: "viewer" }, async ({ email, role }) => {
    await api().inviteMember({ body: { email: email.trim(), role: Role.parse(role) } });
    announce("Invitation sent.");
    await onInvited();
  });
  return (
    <Form form={form} action="Send invitation">
      <TextField
        field={form.field("email")}
        label="Email"
        type="email"
        hint="They receive a link to set their password."
        hasFocus
      />
      <SelectField field={form.field("role")} label="Role" {...roleChoice(roles, form.values.value.role)} />
    </Form>
  );
}

export function changeRole(member: Member, roles: readonly Role[], onChanged: () => Promise<void>): MenuItem {
  return dialogItem("Change role", onChanged, (done) => (
    <RoleForm member={member} roles={roles} onChanged={done} />
  ));
}

function RoleForm({
  member,
  roles,
  onChanged,
}: {
  member: Member;
  roles: readonly Role[];
  onChanged: () => Promise<void>;
}) {
  const { id, email } = member;
  const form = useForm<{ role: string }>({ role: member.role }, async (values) => {
    const { role } = await api().updateMember({
      params: { id },
      body: { role: Role.parse(values.role) },
    });
    announce(`Role changed to ${role}.`);
    await onChanged();
  });
  return (
    <Form form={form} action="Save">
      <p class="break">
        {member.status === "active"
          ? `The new role of ${email} takes effect immediately. Their API keys that exceed the new role stop working.`
          : `The invitation to ${email} will use the new role.`}
      </p>
      {isYou(member) ? (
        <Notice tone="info">
          You are changing your own role. Only another owner or admin can restore your access.
        </Notice>
      ) : null}
      <SelectField field={form.field("role")} label="Role" {...roleChoice(roles, form.values.value.role)} />
    </Form>
  );
}

/** Removes a member. Members who remove themselves leave the organization and end their session. */
export function removal(member: Member, onRemoved: () => Promise<void>): MenuItem {
  const { id, email } = member;
  const remove = async () => api().deleteMember({ params: { id } });
  if (isYou(member)) {
    return confirmItem({
      label: "Leave",
      question: "Leave the organization?",
      consequence:
        "You are logged out, and the API keys that you created stop working. To return, you need a new invitation.",
      act: async () => {
        await remove();
        clearSession();
      },
    });
  }
  return confirmItem({
    label: "Remove",
    question: "Remove this member?",
    consequence: (
      <span class="break">
        {email} is logged out immediately, and the API keys that they created stop working. Replace those keys
        on your servers first. The webhooks that they added are still called: delete those that you do not
        need.
      </span>
    ),
    act: async () => {
      const { webhooks } = await remove();
      const called = webhooks.map(({ url }) => ` This webhook is still called: ${url}`);
      announce(`Member removed.${called.join("")}`);
      await onRemoved();
    },
  });
}

export function sendAgain({ email, role }: Member, onSent: () => Promise<void>): MenuItem {
  return {
    label: "Resend invitation",
    act: async () => api().inviteMember({ body: { email, role } }),
    success: "Invitation sent again. The previous link no longer works.",
    onDone: onSent,
  };
}

export function revocation({ id, email }: Member, onRevoked: () => Promise<void>): MenuItem {
  return confirmItem({
    label: "Revoke",
    question: "Revoke this invitation?",
    consequence: <span class="break">The link sent to {email} stops working.</span>,
    act: async () => api().deleteMember({ params: { id } }),
    success: "Invitation revoked.",
    onDone: onRevoked,
  });
}
