import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";

/** Memory of a batch that the server refused, and with it the batch, because it has what looks like a secret. */
export interface RefusedSecret {
  /** Its place in the batch. */
  readonly index: number;
  readonly message: string;
}

/** Reads which memory of a batch has the secret; undefined if the batch failed for another reason. */
export function refusedSecretIn(error: unknown): RefusedSecret | undefined {
  const failed = ConnectError.from(error);
  const [info] = failed.findDetails(ErrorInfoSchema);
  if (failed.code !== Code.InvalidArgument || info?.reason !== "SECRET_FOUND") return undefined;
  const [violation] = failed.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const index = /^memories\[(\d+)\]/.exec(violation?.field ?? "")?.[1];
  return index === undefined ? undefined : { index: Number(index), message: failed.rawMessage };
}
