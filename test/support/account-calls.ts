import { randomUUID } from "node:crypto";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { Session } from "../../shared/api/contract/accounts.ts";
import { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { AcceptedInvitation, Member } from "../../shared/api/contract/members.ts";
import type { Role } from "../../shared/api/contract/scopes.ts";
import { call, Customer, dataOf, pageOf, password, type ApiResponse } from "./api.ts";
import { tokenIn, waitForEmail, waitForSubject } from "./emails.ts";

/** A member of an organization. */
export interface Joined {
  readonly id: string;
  readonly email: string;
}

/** A member with a session. */
export interface Person extends Joined {
  readonly token: string;
}

export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

/** The calls about accounts and members on a gateway that a test file has for itself. */
export function accountCallsTo(gateway: LocalGateway) {
  const { url: baseUrl } = gateway;

  /** Calls without a credential. */
  const post = async (path: string, json: object): Promise<ApiResponse> => call(path, { json, baseUrl });

  const as = async (credential: string, method: string, path: string, json?: unknown): Promise<ApiResponse> =>
    call(path, { method, credential, baseUrl, ...(json === undefined ? {} : { json }) });

  /** Returns the status of a call that needs a valid credential and hardly any rights. */
  const statusWith = async (credential: string): Promise<number> =>
    (await as(credential, "GET", "/v1/wallet")).status;

  const logIn = async (email: string, given = password): Promise<ApiResponse> =>
    post("/v1/auth/login", { email, password: given });

  const sessionOf = async (email: string, given = password): Promise<string> =>
    dataOf(await logIn(email, given), Session).token;

  const createKey = async (credential: string, body: object = {}): Promise<CreatedApiKey> =>
    dataOf(await as(credential, "POST", "/v1/auth/api-keys", body), CreatedApiKey);

  /** Registers a customer, and waits for the email with the link. */
  const registerUnverified = async (): Promise<Customer> => {
    const customer = await Customer.register({ baseUrl });
    await waitForEmail(gateway, customer.email);
    return customer;
  };

  /** Registers a customer whose email counts as verified from now on. */
  const register = async (): Promise<Customer> => {
    const customer = await registerUnverified();
    await noteVerifiedEmail(customer.organizationId);
    return customer;
  };

  const invite = async (credential: string, role: Role, email = newEmail()): Promise<ApiResponse> =>
    as(credential, "POST", "/v1/members", { email, role });

  /** Accepts an invitation with the token of its link. */
  const accept = async (token: string, given = password): Promise<ApiResponse> =>
    post("/v1/auth/accept-invitation", { token, password: given, firstName: "Grace" });

  /** Invites a person, who accepts. @param credential that of the member who invites */
  const addMember = async (role: Role, credential: string): Promise<Joined> => {
    const { email } = dataOf(await invite(credential, role), Member);
    const link = await waitForSubject(gateway, email, "You are invited");
    const { user } = dataOf(await accept(tokenIn(link)), AcceptedInvitation);
    return { id: user.id, email };
  };

  const membersSeenBy = async (credential: string): Promise<Member[]> =>
    pageOf(await as(credential, "GET", "/v1/members?limit=100"), Member).rows;

  const setRole = async (credential: string, id: string, role: Role): Promise<ApiResponse> =>
    as(credential, "PATCH", `/v1/members/${id}`, { role });

  const removeMember = async (credential: string, id: string): Promise<ApiResponse> =>
    as(credential, "DELETE", `/v1/members/${id}`);

  /** Adds a member who is logged in. */
  const join = async (role: Role, credential: string): Promise<Person> => {
    const joined = await addMember(role, credential);
    return { ...joined, token: await sessionOf(joined.email) };
  };

  return {
    post,
    as,
    statusWith,
    logIn,
    sessionOf,
    createKey,
    registerUnverified,
    register,
    invite,
    accept,
    addMember,
    membersSeenBy,
    setRole,
    removeMember,
    join,
  };
}
