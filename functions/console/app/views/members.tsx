import type { JSX } from "preact";

import type { Member } from "../../../../shared/api/contract/members.ts";
import { Role } from "../../../../shared/api/contract/scopes.ts";
import { api } from "../api.ts";
import { ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { Email } from "../parts/email.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { changeRole, Invite, isYou, removal, revocation, sendAgain } from "../parts/member-actions.tsx";
import { Menu, type MenuItem } from "../parts/menu.tsx";
import { announce, Notice } from "../parts/notice.tsx";
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

/** Whether all members need two-factor authentication. Owners change it once they have it themselves. */
function Requirement({ members }: { members: readonly Member[] }) {
  const load = useLoad(async () => (await api().getMe()).organization, []);
  const you = members.find(isYou);
  const require = async (secondFactorRequired: boolean): Promise<void> => {
    load.replace(await api().updateOrganization({ body: { secondFactorRequired } }));
    announce(`Two-factor authentication is ${secondFactorRequired ? "" : "not "}required.`);
  };
  return (
    <Section title="Required two-factor authentication">
      <Loaded load={load}>
        {({ secondFactorRequired: isOn }) => (
          <>
            <Status of={isOn ? "enabled" : "off"} />
            <p>Members without it can only set it up. API keys keep working.</p>
            {you?.role !== "owner" ? (
              <p class="muted">Only owners can change this.</p>
            ) : you.secondFactor === false ? (
              <p>
                <button type="button" class="small" disabled>
                  Require two-factor
                </button>{" "}
                <a href="#/security">Set it up for yourself</a> first.
              </p>
            ) : (
              <ConfirmButton
                label={isOn ? "Stop requiring two-factor" : "Require two-factor"}
                question={isOn ? "Stop requiring two-factor?" : "Require two-factor of all members?"}
                consequence={
                  isOn
                    ? "Members can disable it, and new members log in with only a password."
                    : "Members who have not set it up can do nothing else until then."
                }
                act={async () => require(!isOn)}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
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
      <Requirement members={active} />
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
