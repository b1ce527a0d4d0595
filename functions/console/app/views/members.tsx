import type { ComponentChildren, JSX } from "preact";

import type { Member } from "../../../../shared/contract/members.ts";
import { Role } from "../../../../shared/contract/scopes.ts";
import { api } from "../api.ts";
import { ConfirmDialog, Dialog, DialogButton } from "../parts/dialog.tsx";
import { Email } from "../parts/email.tsx";
import { Empty } from "../parts/empty.tsx";
import { Form, SelectField, TextField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { Menu, type MenuItem } from "../parts/menu.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized } from "../problems.ts";
import { forgetSession, session } from "../session.ts";

const roleWords: Readonly<Record<Role, string>> = {
  owner: "Full access.",
  admin: "Full access, except adding, changing or removing owners.",
  developer: "Full access, except to billing, business verification and members.",
  viewer: "Read-only access.",
};

/** Who is in the organisation, or invited into it. */
export function Members(): JSX.Element {
  // One page has them all: an organisation has 50 members at most, with those who are invited.
  const members = useLoad(async () => (await api().listMembers({ query: { limit: 100 } })).rows, []);
  const roles = rolesManagedBy(activeOf(members.data ?? []).find(isYou));
  return (
    <Page
      title="Members"
      lead="People in your organization and their roles."
      actions={
        roles.length === 0 ? null : (
          <DialogButton label="Invite member" look="primary">
            {(close) => (
              <Invite
                roles={roles}
                onInvited={async () => {
                  close();
                  await members.reload();
                }}
              />
            )}
          </DialogButton>
        )
      }
    >
      <Loaded load={members}>
        {(rows) => <Team members={rows} roles={roles} onChange={members.reload} />}
      </Loaded>
    </Page>
  );
}

interface TeamProps {
  readonly members: readonly Member[];
  /** Those that the person may give and take. */
  readonly roles: readonly Role[];
  readonly onChange: () => Promise<void>;
}

function Team({ members, roles, onChange }: TeamProps): JSX.Element {
  const active = activeOf(members);
  const invitations = members.filter(({ status }) => status !== "active");
  const isManager = roles.length > 0;
  const isOnlyOwner = (member: Member): boolean =>
    member.role === "owner" && active.filter(({ role }) => role === "owner").length === 1;
  const emailOf = (userId = ""): string => active.find(({ id }) => id === userId)?.email ?? userId;
  return (
    <>
      {isManager ? null : (
        <Notice tone="info">Only owners and admins can invite, change and remove members.</Notice>
      )}
      <Section title="Members">
        <Table
          caption="Members, oldest first"
          rows={active}
          keyOf={({ id }) => id}
          columns={[
            { title: "Member", show: (member) => <Who member={member} /> },
            { title: "Role", show: ({ role }) => <span class="whole">{capitalized(role)}</span> },
            {
              title: "Two-factor",
              show: ({ secondFactor }) => <Status of={secondFactor ? "enabled" : "off"} />,
            },
            { title: "Joined", show: ({ createdAt }) => <Time at={createdAt} /> },
            ...actionsColumn(isManager, (member) =>
              isOnlyOwner(member) && roles.includes("owner") ? (
                <span class="muted">Only owner</span>
              ) : (
                <Menu
                  label={`Actions for ${member.email}`}
                  items={
                    roles.includes(member.role)
                      ? [changeRole(member, roles, onChange), removal(member, onChange)]
                      : []
                  }
                />
              ),
            ),
          ]}
        />
      </Section>
      {isManager || invitations.length > 0 ? (
        <Section title="Invitations">
          {invitations.length === 0 ? (
            <Empty title="No pending invitations">
              <p>Invite your team. Each member logs in with their own password.</p>
            </Empty>
          ) : (
            <Table
              caption="Invitations, oldest first"
              rows={invitations}
              keyOf={({ id }) => id}
              columns={[
                { title: "Email", show: ({ email }) => <Email of={email} /> },
                { title: "Role", show: ({ role }) => <span class="whole">{capitalized(role)}</span> },
                { title: "Status", show: ({ status }) => <Status of={status} /> },
                {
                  title: "Invited by",
                  show: ({ invitedBy }) => <Email of={emailOf(invitedBy)} />,
                },
                {
                  title: "Expires",
                  show: ({ expiresAt }) => (expiresAt === undefined ? null : <Time at={expiresAt} />),
                },
                ...actionsColumn(isManager, (member) => (
                  <Menu
                    label={`Actions for the invitation to ${member.email}`}
                    items={
                      roles.includes(member.role)
                        ? [
                            sendAgain(member, onChange),
                            changeRole(member, roles, onChange),
                            revocation(member, onChange),
                          ]
                        : []
                    }
                  />
                )),
              ]}
            />
          )}
        </Section>
      ) : null}
    </>
  );
}

function activeOf(members: readonly Member[]): readonly Member[] {
  return members.filter(({ status }) => status === "active");
}

function isYou({ id }: Member): boolean {
  return id === session.value?.user.id;
}

/** The roles that somebody may give and take: admins manage all but owners, others nobody. */
function rolesManagedBy(member: Member | undefined): readonly Role[] {
  if (member?.role === "owner") return Role.options;
  return member?.role === "admin" ? Role.options.filter((role) => role !== "owner") : [];
}

function actionsColumn(
  isManager: boolean,
  show: (member: Member) => ComponentChildren,
): readonly Column<Member>[] {
  if (!isManager) return [];
  return [{ title: "Actions", show }];
}

function Who({ member }: { member: Member }): JSX.Element {
  const { email, firstName = "", lastName = "" } = member;
  const name = `${firstName} ${lastName}`.trim();
  return (
    <>
      {name === "" ? null : (
        <strong class="clamp" dir="auto">
          {name}
        </strong>
      )}
      <Email of={email} /> {isYou(member) ? <span class="tag">You</span> : null}
    </>
  );
}

/** What a field to choose one of the roles has beside its form. */
function roleChoice(roles: readonly Role[], chosen: string) {
  return {
    options: roles.map((role) => [role, capitalized(role)] as const),
    hint: roleWords[Role.parse(chosen)],
  };
}

function Invite({
  roles,
  onInvited,
}: {
  roles: readonly Role[];
  onInvited: () => Promise<void>;
}): JSX.Element {
  const form = useForm({ email: "", role: "developer" }, async ({ email, role }) => {
    await api().inviteMember({ body: { email: email.trim(), role: Role.parse(role) } });
    announce("Invitation sent.");
    await onInvited();
  });
  return (
    <Form form={form} action="Send invitation">
      <TextField
        form={form}
        name="email"
        label="Email"
        type="email"
        hint="They receive a link to set their password."
        hasFocus
      />
      <SelectField form={form} name="role" label="Role" {...roleChoice(roles, form.values.value.role)} />
    </Form>
  );
}

function changeRole(member: Member, roles: readonly Role[], onChanged: () => Promise<void>): MenuItem {
  return {
    label: "Change role",
    dialog: (close) => (
      <Dialog title="Change role" onClose={close}>
        <RoleForm
          member={member}
          roles={roles}
          onChanged={async () => {
            close();
            await onChanged();
          }}
        />
      </Dialog>
    ),
  };
}

function RoleForm({
  member,
  roles,
  onChanged,
}: {
  member: Member;
  roles: readonly Role[];
  onChanged: () => Promise<void>;
}): JSX.Element {
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
      <SelectField form={form} name="role" label="Role" {...roleChoice(roles, form.values.value.role)} />
    </Form>
  );
}

/** Removes a member. Somebody who removes themselves leaves, and with that the session ends. */
function removal(member: Member, onRemoved: () => Promise<void>): MenuItem {
  const { id, email } = member;
  const remove = async (): Promise<void> => {
    await api().deleteMember({ params: { id } });
  };
  if (isYou(member)) {
    return {
      label: "Leave",
      dialog: (close) => (
        <ConfirmDialog
          onClose={close}
          label="Leave"
          question="Leave the organization?"
          consequence="You are logged out, and the API keys that you created stop working. To return, you need a new invitation."
          act={async () => {
            await remove();
            forgetSession();
          }}
        />
      ),
    };
  }
  return {
    label: "Remove",
    dialog: (close) => (
      <ConfirmDialog
        onClose={close}
        label="Remove"
        question="Remove this member?"
        consequence={
          <span class="break">
            {email} is logged out immediately, and the API keys that they created stop working. Replace those
            keys on your servers first.
          </span>
        }
        act={async () => {
          await remove();
          announce("Member removed.");
          await onRemoved();
        }}
      />
    ),
  };
}

function sendAgain({ email, role }: Member, onSent: () => Promise<void>): MenuItem {
  return {
    label: "Resend invitation",
    act: async () => {
      await api().inviteMember({ body: { email, role } });
      announce("Invitation sent again. The previous link no longer works.");
      await onSent();
    },
  };
}

function revocation({ id, email }: Member, onRevoked: () => Promise<void>): MenuItem {
  return {
    label: "Revoke",
    dialog: (close) => (
      <ConfirmDialog
        onClose={close}
        label="Revoke"
        question="Revoke this invitation?"
        consequence={<span class="break">The link sent to {email} stops working.</span>}
        act={async () => {
          await api().deleteMember({ params: { id } });
          announce("Invitation revoked.");
          await onRevoked();
        }}
      />
    ),
  };
}
