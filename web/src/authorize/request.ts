import { FROM_PORTAL, SERVICE_URL } from "../session/client";
import { errorOf } from "../session/sign-in";
import { redirectTo } from "./redirect-to";

/** Request of an application for a key, as the server has read it. */
export interface AuthorizationRequest {
  /** Name that the application gives itself, and the host of the document about it; either may be empty. */
  readonly client: { readonly name: string; readonly host: string };
  /** Place that the user is sent to: a host, or a program on this device. */
  readonly redirect: { readonly host: string; readonly is_local: boolean };
  /** True if nothing but reading was asked for. */
  readonly reads_only: boolean;
  /** Error in the request, which the application is told at `location`. */
  readonly problem?: { readonly error: string; readonly error_description: string };
  readonly location?: string;
}

/** Answer of the user. */
export type Answer =
  | { readonly allow: false }
  | {
      readonly allow: true;
      readonly access: "full" | "read_only";
      readonly namespace: string;
      readonly days: number;
    };

/** Asks the server what the application wants. @throws ConnectError */
export function readRequest(): Promise<AuthorizationRequest> {
  return post("request", {}) as Promise<AuthorizationRequest>;
}

/** Sends the user's answer, and goes where the server says. @throws ConnectError */
export async function sendAnswer(answer: Answer): Promise<void> {
  redirectTo(((await post("answer", answer)) as { location: string }).location);
}

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${SERVICE_URL}/authorize/${path}`, {
    method: "POST",
    headers: { ...FROM_PORTAL, "content-type": "application/json" },
    body: JSON.stringify({ ...body, query: location.search.slice(1) }),
  });
  if (!response.ok) throw await errorOf(response);
  return response.json();
}
