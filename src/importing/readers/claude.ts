import type { Json, JsonObject } from "../../memory/input/metadata.js";
import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, textOf } from "./parts.js";

/** Reads `conversations.json` of Claude's data export: a list of conversations with their messages in order. */
export async function* readClaude(source: Source): AsyncGenerator<Imported | Skipped> {
  const conversations = listOf(await source.json())?.map(objectOf);
  if (!conversations?.every((each) => listOf(each?.chat_messages) !== undefined)) {
    throw otherFormat("conversations.json of Claude's data export");
  }
  for (const conversation of conversations) yield* messagesOf(conversation as JsonObject);
}

function* messagesOf({ uuid, name, chat_messages }: JsonObject): Generator<Imported | Skipped> {
  for (const each of listOf(chat_messages) ?? []) {
    const message = objectOf(each) ?? {};
    yield imported({
      ...{ program: "claude", id: String(message.uuid), text: said(message) },
      facts: {
        ...{ conversation: name as Json, conversation_id: uuid as Json },
        ...{ role: message.sender as Json, created_at: message.created_at as Json },
      },
    });
  }
}

/** Answers the text of a message: its parts of the type "text", or in older exports the message's own. */
function said({ content, text }: JsonObject): string | undefined {
  const parts = (listOf(content) ?? []).map(objectOf).filter((part) => part?.type === "text");
  return textOf(parts.map((part) => part?.text).join("\n")) ?? textOf(text);
}
