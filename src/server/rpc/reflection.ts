import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.js";
import * as v1 from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import * as v1alpha from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import type { MemoryError } from "../../errors.js";
import type { Call } from "../call.js";
import { toConnectError } from "../errors.js";
import { callKey } from "./mount.js";

/**
 * Lets clients such as grpcurl and `buf curl` ask for the contract of these services and of the details of errors, and
 * of no others. Both versions of the protocol are served; they differ in nothing but their package.
 */
export function registerReflection(router: ConnectRouter, services: readonly DescService[]): void {
  let contract: Contract | undefined;
  // At the first question, not at the start: it takes 15 ms.
  const read = () => (contract ??= readContract(services));
  // To compress an answer costs five times as much as the answer itself.
  const options = { compressMinBytes: Number.POSITIVE_INFINITY };
  const serverReflectionInfo = <Q extends Question>(asked: AsyncIterable<Q>, context: HandlerContext) =>
    converse(asked, context, read());
  router.service(v1.ServerReflection, { serverReflectionInfo }, options);
  router.service(v1alpha.ServerReflection, { serverReflectionInfo }, options);
}

type Contract = ReturnType<typeof readContract>;

type Question = v1.ServerReflectionRequest | v1alpha.ServerReflectionRequest;

/** Bytes of memory for each byte of an answer's files: it is held encoded, in an envelope, and in Node's queue. */
const COPIES = 3;

async function* converse<Q extends Question>(
  questions: AsyncIterable<Q>,
  { values }: HandlerContext,
  contract: Contract,
) {
  const call = values.get(callKey);
  for await (const question of questions) {
    const messageResponse = answer(question.messageRequest, contract);
    const bytes = COPIES * bytesOf(messageResponse);
    holdFor(call, bytes);
    yield { validHost: question.host, originalRequest: question, messageResponse };
    // Connect asks for the next answer when the client takes this one.
    call?.adjust(-bytes);
  }
}

/** Bytes of the files of an answer. The others are about as long as their questions, which the call holds already. */
function bytesOf(answered: ReturnType<typeof answer>): number {
  if (answered.case !== "fileDescriptorResponse") return 0;
  return answered.value.fileDescriptorProto.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

function holdFor(call: Call | undefined, bytes: number): void {
  try {
    call?.hold(bytes);
  } catch (error) {
    throw toConnectError(error as MemoryError);
  }
}

function answer(asked: Question["messageRequest"], contract: Contract) {
  switch (asked.case) {
    case "listServices": {
      const service = contract.services.map(({ typeName: name }) => ({ name }));
      return { case: "listServicesResponse", value: { service } } as const;
    }
    case "fileByFilename":
      return fileAnswer(contract.files.get(asked.value), asked.value, contract);
    case "fileContainingSymbol":
      return fileAnswer(contract.symbols.get(asked.value), asked.value, contract);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const found = extensionsOf(containingType, contract).find(({ number }) => number === extensionNumber);
      return fileAnswer(found?.file, `extension ${extensionNumber} of ${containingType}`, contract);
    }
    case "allExtensionNumbersOfType": {
      const { value: baseTypeName } = asked;
      if (!contract.symbols.has(baseTypeName)) return failure(Code.NotFound, `not found: ${baseTypeName}`);
      const extensionNumber = extensionsOf(baseTypeName, contract).map(({ number }) => number);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } } as const;
    }
    default:
      return failure(Code.InvalidArgument, "the request asks for nothing");
  }
}

/** Lists the file with all its imports, so that the client need not ask again. */
function fileAnswer(file: DescFile | undefined, what: string, { bytes }: Contract) {
  if (file === undefined) return failure(Code.NotFound, `not found: ${what}`);
  const files = [...withImports([file]).values()];
  const fileDescriptorProto = files.flatMap((each) => bytes.get(each) ?? []);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } } as const;
}

/** Converts an error code to gRPC's number, which is Connect's too. */
function failure(errorCode: Code, errorMessage: string) {
  return { case: "errorResponse", value: { errorCode, errorMessage } } as const;
}

function extensionsOf(typeName: string, { extensions }: Contract): DescExtension[] {
  return extensions.filter(({ extendee }) => extendee.typeName === typeName);
}

/** Reads once all that can be asked for. */
function readContract(services: readonly DescService[]) {
  const files = withImports([...services.map(({ file }) => file), file_google_rpc_error_details]);
  const types = [...files.values()].flatMap((file) => [...nestedTypes(file)]);
  return {
    services,
    files,
    /** File that declares each full name. */
    symbols: new Map(types.flatMap((type) => namesIn(type).map((name) => [name, type.file]))),
    extensions: types.filter((type) => type.kind === "extension"),
    /** Files as they are sent: serializing them for each question would let strangers cost too much. */
    bytes: new Map(
      [...files.values()].map((file) => [file, toBinary(FileDescriptorProtoSchema, file.proto)]),
    ),
  };
}

function withImports(
  files: readonly DescFile[],
  visited = new Map<string, DescFile>(),
): ReadonlyMap<string, DescFile> {
  for (const file of files) {
    if (visited.has(file.proto.name)) continue;
    visited.set(file.proto.name, file);
    withImports(file.dependencies, visited);
  }
  return visited;
}

/** Lists a type's full name and those of its members. Values of an enum stand beside it, as in C++. */
function namesIn(type: DescMessage | DescEnum | DescExtension | DescService): string[] {
  const { typeName } = type;
  const scope = type.kind === "enum" ? typeName.slice(0, typeName.lastIndexOf(".")) : typeName;
  return [typeName, ...membersOf(type).map(({ name }) => `${scope}.${name}`)];
}

function membersOf(type: DescMessage | DescEnum | DescExtension | DescService): readonly { name: string }[] {
  if (type.kind === "message") return type.members;
  if (type.kind === "service") return type.methods;
  return type.kind === "enum" ? type.values : [];
}
