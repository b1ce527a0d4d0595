import type { JSX } from "preact";

import type { Member } from "../../../../shared/api/contract/members.ts";
import { Role } from "../../../../shared/api/contract/scopes.ts";
import { api } from "../api.ts";
import { DialogButton } from "../parts/dialog.tsx";
import { Email } from "../parts/email.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { changeRole, Invite, isYou, removal, revocation, sendAgain } from "../parts/member-actions.tsx";
import { Menu, type MenuItem } from "../parts/menu.tsx";
import { Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Table, type Columns } from "../parts/table.tsx";
import { optionalTime, Time } from "../parts/time.tsx";
import { capitalized } from "../problems.ts";

/** The members of the organization and open invitations. */
export function Members() {
  // One page is enough: an organization has at most 50 members and invitations.
  const members = useLoad(async () => (await api().listMembers({ query: { limit: 100 } })).rows, []);
  const roles = rolesManagedBy(activeOf(members.data ?? []).find(isYou));
  return (
    <Page
      title="Members"
      lead="People in your organization and their roles."
      actions={
        roles.length === 0 ? null : (
          <DialogButton label="Invite member" onDone={members.reload}>
            {(done) => <Invite roles={roles} onInvited={done} />}
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
  /** The roles that the person can assign. */
  readonly roles: readonly Role[];
  readonly onChange: () => Promise<void>;
}

function Team({ members, roles, onChange }: TeamProps) {
  const active = activeOf(members);
  const invitations = members.filter(({ status }) => status !== "active");
  const isManager = roles.length > 0;
  const isOnlyOwner = (member: Member): boolean =>
    member.role === "owner" && active.filter(({ role }) => role === "owner").length === 1;
  const actionsColumn = (show: (member: Member) => JSX.Element): Columns<Member> =>
    isManager ? { Actions: show } : {};
  const menuOf = (member: Member, label: string, items: readonly MenuItem[]) => (
    <Menu label={label} items={roles.includes(member.role) ? items : []} />
  );
  const emailOf = (userId = ""): string => active.find(({ id }) => id === userId)?.email ?? "Former member";
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
          columns={{
            Member: (member) => <Who member={member} />,
            Role: ({ role }) => <span class="whole">{capitalized(role)}</span>,
            "Two-factor": ({ secondFactor }) =>
              secondFactor === undefined ? "–" : <Status of={secondFactor ? "enabled" : "off"} />,
            Joined: ({ createdAt }) => <Time at={createdAt} />,
            ...actionsColumn((member) =>
              isOnlyOwner(member) && roles.includes("owner") ? (
                <span class="muted">Only owner</span>
              ) : (
                menuOf(member, `Actions for ${member.email}`, [
                  changeRole(member, roles, onChange),
                  removal(member, onChange),
                ])
              ),
            ),
          }}
        />
      </Section>
      {isManager || invitations.length > 0 ? (
        <Section title="Invitations">
          <Table
            caption="Invitations, oldest first"
            rows={invitations}
            keyOf={({ id }) => id}
            columns={{
              Email: ({ email }) => <Email of={email} />,
              Role: ({ role }) => <span class="whole">{capitalized(role)}</span>,
              Status: ({ status }) => <Status of={status} />,
              "Invited by": ({ invitedBy }) => <Email of={emailOf(invitedBy)} />,
              Expires: ({ expiresAt }) => optionalTime(expiresAt),
              ...actionsColumn((member) =>
                menuOf(member, `Actions for the invitation to ${member.email}`, [
                  sendAgain(member, onChange),
                  changeRole(member, roles, onChange),
                  revocation(member, onChange),
                ]),
              ),
            }}
            empty={{
              title: "No pending invitations",
              hint: "Invite your team. Each member logs in with their own password.",
            }}
          />
        </Section>
      ) : null}
    </>
  );
}

function activeOf(members: readonly Member[]): readonly Member[] {
  return members.filter(({ status }) => status === "active");
}

/** The roles that a member can assign: owners assign all, admins all but owner, others none. */
function rolesManagedBy(member: Member | undefined): readonly Role[] {
  if (member?.role === "owner") return Role.options;
  return member?.role === "admin" ? Role.options.filter((role) => role !== "owner") : [];
}

function Who({ member }: { member: Member }) {
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
