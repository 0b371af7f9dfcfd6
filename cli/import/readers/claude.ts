import type { JsonObject } from "../../../src/memory/requests/metadata.js";
import type { Read, Source } from "../imported.js";
import {
  idTextOf,
  imported,
  listOf,
  madeId,
  objectOf,
  otherFormat,
  placed,
  skip,
  textOf,
  timeOf,
} from "./parts.js";

/** Reads `conversations.json` of Claude's data export: a list of conversations with their messages in order. */
export async function* readClaude(source: Source): AsyncGenerator<Read> {
  const json = await source.json();
  const conversations = placed(json, "$");
  const isClaude = conversations.some(({ value }) => "chat_messages" in (objectOf(value) ?? {}));
  if (!isClaude && listOf(json)?.length !== 0)
    throw otherFormat("conversations.json of Claude's data export");
  for (const { value, place } of conversations) {
    const conversation = objectOf(value) ?? {};
    if (Array.isArray(conversation.chat_messages)) yield* messagesOf(conversation, place);
    else yield skip("claude", place, "it is not a conversation with messages");
  }
}

function* messagesOf(conversation: JsonObject, at: string): Generator<Read> {
  const { uuid, name, chat_messages } = conversation;
  const conversationId = idTextOf(uuid) ?? madeId([at, conversation]);
  for (const { value, place } of placed(chat_messages, `${at}.chat_messages`)) {
    const message = objectOf(value);
    if (message === undefined) {
      yield skip("claude", place, "it is not a message");
      continue;
    }
    yield imported({
      program: "claude",
      place,
      id: message.uuid,
      text: said(message),
      facts: {
        conversation: name,
        conversation_id: conversationId,
        role: message.sender,
        created_at: message.created_at,
      },
      eventTime: timeOf(message.created_at),
    });
  }
}

/**
 * Returns the text of a message: its parts of the type "text", or in older exports the message's own, and what
 * was pasted beside it as a file.
 */
function said({ content, text, attachments }: JsonObject): string | undefined {
  const parts = (listOf(content) ?? []).map(objectOf).filter((part) => part?.type === "text");
  const written = textOf(joined(parts.map((part) => part?.text))) ?? textOf(text);
  const pasted = (listOf(attachments) ?? []).map((each) => textOf(objectOf(each)?.extracted_content));
  return textOf(joined([written, ...pasted]));
}

function joined(texts: readonly unknown[]): string {
  return texts.filter((text) => typeof text === "string").join("\n");
}
