import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";

import type { Member } from "../../../../shared/contract/members.ts";
import { Role } from "../../../../shared/contract/scopes.ts";
import { api } from "../api.ts";
import { ActionButton, ConfirmButton, Dialog } from "../parts/dialog.tsx";
import { Email } from "../parts/email.tsx";
import { Empty } from "../parts/empty.tsx";
import { Form, SelectField, TextField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { forgetSession, session } from "../session.ts";

const roleWords: Readonly<Record<Role, string>> = {
  owner: "May do everything.",
  admin: "May do everything, but not make, change or remove owners.",
  developer: "May do everything but what concerns money, KYC and members.",
  viewer: "Sees everything and changes nothing.",
};

/** Who is in the organisation, or invited into it. */
export function Members(): JSX.Element {
  // One page has them all: an organisation has 50 members at most, with those who are invited.
  const members = useLoad(async () => (await api().listMembers({ query: { limit: 100 } })).rows, []);
  return (
    <Page title="Members" lead="The people who log in for the organisation, and what each of them may do.">
      <Loaded load={members}>{(rows) => <Team members={rows} onChange={members.reload} />}</Loaded>
    </Page>
  );
}

interface TeamProps {
  readonly members: readonly Member[];
  readonly onChange: () => Promise<void>;
}

function Team({ members, onChange }: TeamProps): JSX.Element {
  const active = members.filter(({ status }) => status === "active");
  const invitations = members.filter(({ status }) => status !== "active");
  const you = active.find(isYou);
  const roles = rolesManagedBy(you);
  const isManager = roles.length > 0;
  const isOnlyOwner = (member: Member): boolean =>
    member.role === "owner" && active.filter(({ role }) => role === "owner").length === 1;
  const emailOf = (userId = ""): string => active.find(({ id }) => id === userId)?.email ?? userId;
  return (
    <>
      {isManager ? (
        <Section title="Invite somebody">
          <Invite roles={roles} onInvited={onChange} />
        </Section>
      ) : (
        <Notice tone="info">Owners and admins invite, change and remove members.</Notice>
      )}
      <Section title="Members">
        <Table
          caption="Members, in the order in which they came"
          rows={active}
          keyOf={({ id }) => id}
          columns={[
            { title: "Member", show: (member) => <Who member={member} /> },
            { title: "Role", show: ({ role }) => <span class="whole">{role}</span> },
            {
              title: "Second factor",
              show: ({ secondFactor }) => <Status of={secondFactor ? "enabled" : "off"} />,
            },
            { title: "Since", show: ({ createdAt }) => <Time at={createdAt} /> },
            ...actionsColumn(isManager, (member) =>
              !roles.includes(member.role) ? null : isOnlyOwner(member) ? (
                <span class="muted">The only owner</span>
              ) : (
                <>
                  <ChangeRole member={member} roles={roles} onChanged={onChange} />
                  <Remove member={member} onRemoved={onChange} />
                </>
              ),
            ),
          ]}
        />
      </Section>
      {isManager || invitations.length > 0 ? (
        <Section title="Invitations">
          {invitations.length === 0 ? (
            <Empty title="Nobody is invited">
              <p>Invite the people you work with above: each logs in with a password of their own.</p>
            </Empty>
          ) : (
            <Table
              caption="Invitations, in the order in which they were made"
              rows={invitations}
              keyOf={({ id }) => id}
              columns={[
                { title: "Email", show: ({ email }) => <Email of={email} /> },
                { title: "Role", show: ({ role }) => <span class="whole">{role}</span> },
                { title: "State", show: ({ status }) => <Status of={status} /> },
                {
                  title: "Invited by",
                  show: ({ invitedBy }) => <Email of={emailOf(invitedBy)} />,
                },
                {
                  title: "Ends",
                  show: ({ expiresAt }) => (expiresAt === undefined ? null : <Time at={expiresAt} />),
                },
                ...actionsColumn(isManager, (member) =>
                  roles.includes(member.role) ? (
                    <>
                      <SendAgain member={member} onSent={onChange} />
                      <ChangeRole member={member} roles={roles} onChanged={onChange} />
                      <TakeBack member={member} onTakenBack={onChange} />
                    </>
                  ) : null,
                ),
              ]}
            />
          )}
        </Section>
      ) : null}
    </>
  );
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
  return [{ title: "Actions", show: (member) => <div class="row">{show(member)}</div> }];
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
      <Email of={email} /> {isYou(member) ? <span class="tag">you</span> : null}
    </>
  );
}

/** What a field to choose one of the roles has beside its form. */
function roleChoice(roles: readonly Role[], chosen: string) {
  return { options: roles.map((role) => [role, role] as const), hint: roleWords[Role.parse(chosen)] };
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
    announce("The invitation is on its way.");
    form.reset();
    await onInvited();
  });
  return (
    <Form form={form} action="Send the invitation" isNarrow>
      <TextField
        form={form}
        name="email"
        label="Email"
        type="email"
        hint="They get a link, with which they choose a password."
      />
      <SelectField form={form} name="role" label="Role" {...roleChoice(roles, form.values.value.role)} />
    </Form>
  );
}

function ChangeRole({
  member,
  roles,
  onChanged,
}: {
  member: Member;
  roles: readonly Role[];
  onChanged: () => Promise<void>;
}): JSX.Element {
  const isOpen = useSignal(false);
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <>
      <button type="button" class="small" onClick={() => (isOpen.value = true)}>
        Change the role
      </button>
      {isOpen.value ? (
        <Dialog title="Change the role" onClose={close}>
          <RoleForm
            member={member}
            roles={roles}
            onChanged={async () => {
              close();
              await onChanged();
            }}
          />
        </Dialog>
      ) : null}
    </>
  );
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
    announce(`The role is ${role} now.`);
    await onChanged();
  });
  return (
    <Form form={form} action="Save">
      <p class="break">
        {member.status === "active"
          ? `Of ${email}, from the next request on. API keys of theirs that may more than the new role end.`
          : `Of the invitation of ${email}.`}
      </p>
      {isYou(member) ? (
        <Notice tone="info">This is you. What you give up, another owner or admin can give you back.</Notice>
      ) : null}
      <SelectField form={form} name="role" label="Role" {...roleChoice(roles, form.values.value.role)} />
    </Form>
  );
}

/** Removes a member; who removes themselves leaves, and with that the session ends. */
function Remove({ member, onRemoved }: { member: Member; onRemoved: () => Promise<void> }): JSX.Element {
  const { id, email } = member;
  const remove = async (): Promise<void> => {
    await api().deleteMember({ params: { id } });
  };
  if (isYou(member)) {
    return (
      <ConfirmButton
        label="Leave"
        question="Leave the organisation?"
        consequence="You are logged out, and the API keys that you have made work no more. Only those who stay can invite you again."
        act={async () => {
          await remove();
          forgetSession();
        }}
      />
    );
  }
  return (
    <ConfirmButton
      label="Remove"
      question="Remove this member?"
      consequence={
        <span class="break">
          {email} is logged out at once, and the API keys that they have made work no more. Servers that call
          with one of those need another first.
        </span>
      }
      act={async () => {
        await remove();
        announce("The member is removed.");
        await onRemoved();
      }}
    />
  );
}

function SendAgain({ member, onSent }: { member: Member; onSent: () => Promise<void> }): JSX.Element {
  const { email, role } = member;
  return (
    <ActionButton
      label="Send again"
      act={async () => {
        await api().inviteMember({ body: { email, role } });
        announce("Another link is on its way. The older one works no more.");
        await onSent();
      }}
    />
  );
}

function TakeBack({
  member,
  onTakenBack,
}: {
  member: Member;
  onTakenBack: () => Promise<void>;
}): JSX.Element {
  const { id, email } = member;
  return (
    <ConfirmButton
      label="Take back"
      question="Take the invitation back?"
      consequence={<span class="break">The link that {email} got works no more.</span>}
      act={async () => {
        await api().deleteMember({ params: { id } });
        announce("The invitation is taken back.");
        await onTakenBack();
      }}
    />
  );
}
