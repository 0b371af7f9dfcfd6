import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type AnyDesc,
  createFileRegistry,
  type DescFile,
  type DescMethod,
  type DescService,
  fromBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { getComments } from "@bufbuild/protoplugin";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const IMAGE_BYTES_MAX = 16_777_216;

/** The services of the contract, with their comments: those are in proto/ and not in gen/. */
export function readServices(): DescService[] {
  const args = ["build", "-o", "-", "--as-file-descriptor-set"];
  const image = execFileSync(`${ROOT}/node_modules/.bin/buf`, args, {
    cwd: ROOT,
    maxBuffer: IMAGE_BYTES_MAX,
  });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  return [MemoryService, AccountService].map(({ typeName }) => registry.getService(typeName) as DescService);
}

export function rpcPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** True if a call changes nothing: Connect serves it by GET, too. */
export function isHarmless({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** A comment as Markdown: its lines joined to paragraphs. */
export function commentOf(desc: Exclude<AnyDesc, DescFile>): string {
  const { leading = "" } = getComments(desc);
  const paragraphs = leading.trim().split(/\n\s*\n/);
  return paragraphs.map((paragraph) => paragraph.replace(/\s*\n\s*/g, " ").trim()).join("\n\n");
}

export function packageVersion(): string {
  return JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")).version;
}
