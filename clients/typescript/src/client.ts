import { Account } from "./account.js";
import { MemoryCalls } from "./calls.js";
import { NamespaceClient } from "./namespace.js";
import { type RecalldOptions, settle } from "./options.js";

/** Calls one recalld server with one key. It holds no connection of its own and needs no closing. */
export class Recalld extends MemoryCalls {
  /** Calls about the account itself and its keys. */
  readonly account: Account;

  /** @throws RecalldError `invalid_argument` that names the option. */
  constructor(options: RecalldOptions) {
    settle(options);
    super(options);
    this.account = new Account(options);
  }

  /** Gives the calls for one namespace: `recalld.namespace("ana").recall("Where does she live?")`. */
  namespace(name: string): NamespaceClient {
    return new NamespaceClient(this, name);
  }
}
