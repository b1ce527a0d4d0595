import { api } from "../api.ts";
import { deviceOf } from "../devices.ts";
import { clearSession } from "../session.ts";
import { ConfirmButton } from "./dialog.tsx";
import { usePages } from "./load.tsx";
import { Section } from "./page.tsx";
import { PagedTable } from "./table.tsx";
import { Time } from "./time.tsx";

/** The places where the person is logged in. */
export function Sessions() {
  const sessions = usePages(async (query) => api().listSessions({ query }), []);
  return (
    <Section title="Sessions">
      <p>All tabs of a browser share its session. It ends after an hour without use, or after 12 hours.</p>
      <PagedTable
        caption="Sessions"
        pages={sessions}
        columns={{
          Browser: ({ userAgent, current }) => (
            <>
              <strong dir="auto">{deviceOf(userAgent)}</strong>{" "}
              {current === true ? <span class="muted">This browser</span> : null}
            </>
          ),
          Started: ({ createdAt }) => <Time at={createdAt} />,
          "Last used": ({ lastUsedAt }) =>
            lastUsedAt === undefined ? "With a token" : <Time at={lastUsedAt} />,
          Actions: ({ id, userAgent, current }) =>
            current === true ? null : (
              <ConfirmButton
                label="End session"
                question={`End the session of ${deviceOf(userAgent)}?`}
                consequence="This device or program has to log in again."
                act={async () => api().deleteSession({ params: { id } })}
                success="Session ended."
                onDone={sessions.reload}
              />
            ),
        }}
      />
      <div class="row">
        <ConfirmButton
          label="Log out everywhere"
          question="Log out everywhere?"
          consequence="You are logged out on all devices and in all tabs, including this one. API keys keep working."
          act={async () => {
            await api().logoutEverywhere();
            clearSession();
          }}
        />
      </div>
    </Section>
  );
}
