import { create, type DescField, type DescMessage, type JsonObject, type Message } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema } from "@bufbuild/protobuf/wkt";

export function isMask({ message }: DescField): boolean {
  return message?.typeName === FieldMaskSchema.typeName;
}

/**
 * Takes the field masks out of a JSON request. Protobuf's JSON has `"createdAt"` in them, which would spoil keys
 * of metadata; this API's fields are in snake_case elsewhere, so both are read. The function that is answered
 * sets them in the message.
 */
export function takeMasks(
  type: DescMessage,
  request: JsonObject,
): { rest: JsonObject; setIn(message: Message): void } {
  const masks = new Map<string, FieldMask>();
  const rest = { ...request };
  for (const field of type.fields.filter(isMask)) {
    for (const key of [field.name, field.jsonName]) {
      const mask = rest[key];
      if (typeof mask === "string")
        masks.set(field.localName, create(FieldMaskSchema, { paths: pathsOf(mask) }));
      delete rest[key];
    }
  }
  return { rest, setIn: (message) => Object.assign(message, Object.fromEntries(masks)) };
}

/** Writes a field's name as the contract does. What follows a dot is no field's name, and stays. */
function pathOf(path: string): string {
  const [first = "", ...rest] = path.split(".");
  return [first.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), ...rest].join(".");
}

function pathsOf(mask: string): string[] {
  if (mask === "") return [];
  return mask.split(",").map(pathOf);
}
