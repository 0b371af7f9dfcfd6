import { call, type Input, type Output } from "./call.js";
import type {
  GetUsageRequest,
  ListRecentCallsRequest,
  ListRecentCallsResponse,
  Methods,
  RecentCall,
  SignUpRequest,
} from "./contract.js";
import { type CallOptions, type RecalldOptions, settle, settleWithoutKey } from "./options.js";
import { Pages } from "./pages.js";

/**
 * Calls about the account of the client's key. Those that change something are sent once and never again by
 * themselves: a second attempt might make a second key.
 */
export class Account {
  readonly #options: RecalldOptions;

  constructor(options: RecalldOptions) {
    this.#options = options;
  }

  /** Gets the account's plan, what is used of it, the key of this call, and the server's model. */
  get(options?: CallOptions): Output<"GetAccount"> {
    return this.#call("GetAccount", {}, options);
  }

  /** Gets what the account used, day by day, and which keys and namespaces used it. */
  usage(request: GetUsageRequest = {}, options?: CallOptions): Output<"GetUsage"> {
    return this.#call("GetUsage", request, options);
  }

  /** Lists the last calls of the account, the newest first. */
  recentCalls(
    request: ListRecentCallsRequest = {},
    options?: CallOptions,
  ): Pages<RecentCall, ListRecentCallsResponse> {
    const read = (pageToken: string) =>
      this.#call("ListRecentCalls", { ...request, pageToken: pageToken || request.pageToken }, options);
    return new Pages(read, ({ calls }) => calls);
  }

  /** Lists the account's keys, without their secrets. */
  listKeys(options?: CallOptions): Output<"ListKeys"> {
    return this.#call("ListKeys", {}, options);
  }

  /** Makes another key. Its secret is in this answer alone. */
  createKey(request: Input<"CreateKey"> = {}, options?: CallOptions): Output<"CreateKey"> {
    return this.#call("CreateKey", request, options);
  }

  /** Revokes a key, or a session of the portal. */
  revokeKey(request: Input<"RevokeKey">, options?: CallOptions): Output<"RevokeKey"> {
    return this.#call("RevokeKey", request, options);
  }

  /** Closes the account and erases all that it holds. That cannot be undone. */
  close(request: Input<"CloseAccount">, options?: CallOptions): Output<"CloseAccount"> {
    return this.#call("CloseAccount", request, options);
  }

  async #call<M extends keyof Methods>(method: M, request: Input<M>, options?: CallOptions): Output<M> {
    return call(method, request, settle(this.#options, options));
  }
}

/** Options of a sign-up: those of a call, without a key. */
export type SignUpOptions = Omit<CallOptions, "apiKey" | "idempotencyKey"> & Pick<RecalldOptions, "baseUrl">;

/** Opens an account. Its key is in this answer alone. It is sent once: a second attempt might open a second. */
export async function signUp(request: SignUpRequest, options: SignUpOptions): Output<"SignUp"> {
  return call("SignUp", request, settleWithoutKey(options, options));
}
