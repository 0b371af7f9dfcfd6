import type { JsonValue } from "@bufbuild/protobuf";
import type { RpcName } from "./protocols.js";

/** One request, and the outcome that every protocol must give. */
export interface Scenario {
  readonly name: string;
  readonly rpc: RpcName;
  /** Request; a string is sent unchanged as the body of a JSON protocol. */
  readonly request: JsonValue;
  /** `ok` or Connect's name of the error. */
  readonly code: string;
  /** Field that BadRequest details must name. */
  readonly field?: string;
  /** Text that the message must contain, such as the limit. */
  readonly says?: RegExp;
  /** True if only JSON can express it: Protobuf's binary form has no wrong types and no names. */
  readonly jsonOnly?: true;
}
