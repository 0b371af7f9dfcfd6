import { randomUUID } from "node:crypto";
import { type DescMessage, fromJson, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { endOfString } from "../../json-tokens.js";
import type { JsonObject } from "../../memory/requests/metadata.js";
import { parseJson } from "../../parse-json.js";

/**
 * Metadata is stored as JSON, and an answer may have a page of it with thousands of keys each. Protobuf-ES makes a
 * message of each value of a Struct, which takes half a second for such a page. So an answer's message has one key in
 * place of all: its value is the stored text, which JSON takes as it is, and Protobuf's binary form memory by memory.
 */

/** Key that stands for stored JSON. It never leaves the process, so no metadata has it. */
const STORED = randomUUID();
const BEGIN = `{"${STORED}":`;

/** Length from which a key stands for metadata: a page of shorter ones is written in some milliseconds as they are. */
const LONG_CHARS = 1_024;

/** Struct that is the JSON of an object, or stands for it. */
export function storedJson(json: string): JsonObject {
  return json.length < LONG_CHARS ? (parseJson(json) as JsonObject) : { [STORED]: json };
}

/** Parses what a Struct of an answer stands for. */
export function parseStored(struct: JsonObject): JsonObject {
  const json = struct[STORED];
  return json === undefined ? struct : (parseJson(json as string) as JsonObject);
}

/** Puts stored JSON into an answer that was written as JSON. */
export function withStoredJson(answer: string): string {
  let at = answer.indexOf(BEGIN);
  if (at === -1) return answer;
  let written = "";
  let copied = 0;
  while (at !== -1) {
    const start = at + BEGIN.length;
    const end = endOfString(answer, start);
    written += answer.slice(copied, at) + JSON.parse(answer.slice(start, end));
    // Skips the closing brace as well.
    copied = end + 1;
    at = answer.indexOf(BEGIN, copied);
  }
  return written + answer.slice(copied);
}

/** Puts stored JSON into an answer that will be written in Protobuf's binary form, and yields after each. */
export function* withStoredStructs<M extends Message>(desc: DescMessage, message: M): Generator<void, M> {
  const fields = message as Record<string, unknown>;
  const ownPackage = desc.file.proto.package;
  for (const { fieldKind, localName, message: inner, number: no, oneof } of desc.fields) {
    // Messages of Google's packages, such as times, hold no Struct; a Struct itself is one of them.
    if (inner === undefined || (inner !== StructSchema && inner.file.proto.package !== ownPackage)) continue;
    const chosen = oneof && (fields[oneof.localName] as { readonly case?: string; readonly value?: unknown });
    const value = chosen === undefined || chosen.case !== localName ? fields[localName] : chosen.value;
    if (value === undefined) continue;
    if (fieldKind === "list") {
      for (const each of value as Message[]) yield* withStoredStructs(inner, each);
    } else if (inner !== StructSchema) {
      yield* withStoredStructs(inner, value as Message);
    } else if (Object.hasOwn(value as object, STORED)) {
      fields[localName] = undefined;
      // Bytes of a field that Protobuf-ES does not know are written as they are.
      const bytes = toBinary(StructSchema, fromJson(StructSchema, parseStored(value as JsonObject)));
      const data = new BinaryWriter().bytes(bytes).finish();
      message.$unknown = [{ no, wireType: WireType.LengthDelimited, data }];
      yield;
    }
  }
  return message;
}
