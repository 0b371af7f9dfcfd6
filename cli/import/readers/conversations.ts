import type { JsonObject } from "../../../src/memory/requests/metadata.js";
import type { Read, Source } from "../imported.js";
import {
  idTextOf,
  importEach,
  imported,
  type Located,
  listOf,
  located,
  locationIn,
  madeId,
  objectOf,
  otherFormat,
  skip,
  textOf,
  timeOf,
} from "./parts.js";

/** Authors whose messages are taken of ChatGPT's, and those that are tools and instructions. */
const [TAKEN, LEFT] = [
  ["user", "assistant"],
  ["system", "tool"],
];
/** Parts of a message that hold words: what was written, or said to the voice mode. */
const WORDS = ["text", "audio_transcription"];

/**
 * Reads `conversations.json` of ChatGPT's data export: a list of conversations, each a tree of messages. Of
 * each the texts of the branch that is shown last are taken, in their order.
 */
export async function* readChatGpt(source: Source): AsyncGenerator<Read> {
  for (const { value, location } of await conversationsIn(source, { name: "ChatGPT", messages: "mapping" })) {
    const conversation = objectOf(value);
    const mapping = objectOf(conversation?.mapping);
    if (conversation === undefined || mapping === undefined) {
      yield skip("chatgpt", location, "it is not a conversation with messages");
      continue;
    }
    const own = idTextOf(conversation.conversation_id) ?? idTextOf(conversation.id);
    const facts = {
      conversation: conversation.title,
      conversation_id: own ?? madeId([location, conversation]),
    };
    for (const node of currentBranch(mapping, conversation.current_node, `${location}.mapping`)) {
      const read = messageOf(node, facts);
      if (read !== undefined) yield read;
    }
  }
}

/** Reads a message; undefined for those that are left out. */
function messageOf({ value, location }: Located, conversation: JsonObject | object): Read | undefined {
  const node = objectOf(value);
  if (node === undefined) return skip("chatgpt", location, "it is not a message");
  // The root of a tree has no message.
  if (node.message === undefined || node.message === null) return undefined;
  const message = objectOf(node.message);
  const role = objectOf(message?.author)?.role;
  if (message === undefined || typeof role !== "string")
    return skip("chatgpt", location, "it is not a message with an author");
  const text = wordsOf(message);
  if (LEFT.includes(role) || isHidden(message) || (text === undefined && isStub(message, role)))
    return undefined;
  if (!TAKEN.includes(role)) return skip("chatgpt", location, `its author is neither ${TAKEN.join(" nor ")}`);
  const createdAt = timeOf(message.create_time);
  return imported({
    program: "chatgpt",
    location,
    id: message.id,
    text,
    facts: { ...conversation, role, created_at: createdAt },
    eventTime: createdAt,
  });
}

/** Nodes of the branch that ChatGPT shows, or all nodes if the tree is broken. */
function currentBranch(mapping: JsonObject, current: unknown, at: string): Located[] {
  const nodes = new Map(Object.entries(mapping));
  const branch = new Set<string>();
  let id: unknown = typeof current === "string" && nodes.has(current) ? current : lastOf(nodes);
  while (typeof id === "string" && nodes.has(id) && !branch.has(id)) {
    branch.add(id);
    id = objectOf(nodes.get(id))?.parent;
  }
  const fromRoot = [...branch].reverse();
  const isWhole = isRoot(nodes.get(fromRoot[0] ?? ""));
  const ids = isWhole ? fromRoot : [...nodes.keys()];
  return ids.map((each) => ({ value: nodes.get(each), location: locationIn(at, each) }));
}

function isRoot(node: unknown): boolean {
  const parent = objectOf(node)?.parent;
  return objectOf(node) !== undefined && (parent === undefined || parent === null);
}

/** Older exports name no current node: the last one without children is it. */
function lastOf(nodes: ReadonlyMap<string, unknown>): string | undefined {
  return [...nodes.keys()].reverse().find((id) => {
    const node = objectOf(nodes.get(id));
    const children = listOf(node?.children) ?? [];
    return node !== undefined && !children.some((child) => typeof child === "string" && nodes.has(child));
  });
}

function isHidden({ metadata }: JsonObject): boolean {
  return objectOf(metadata)?.is_visually_hidden_from_conversation === true;
}

/** True for what an assistant leaves between its answers: calls of tools, thoughts, and empty beginnings. */
function isStub({ content }: JsonObject, role: string): boolean {
  const parts = listOf(objectOf(content)?.parts) ?? [];
  return role === "assistant" && parts.every((part) => part === null || typeof part === "string");
}

/** Joins the parts of a message that are words; others are pictures and files. */
function wordsOf({ content }: JsonObject): string | undefined {
  const words = (listOf(objectOf(content)?.parts) ?? []).map((part) => {
    const { content_type: type, text } = objectOf(part) ?? {};
    return WORDS.some((each) => each === type) ? text : part;
  });
  return textOf(words.filter((each) => typeof each === "string").join("\n"));
}

/** Reads `conversations.json` of Claude's data export: a list of conversations with their messages in order. */
export async function* readClaude(source: Source): AsyncGenerator<Read> {
  for (const { value, location } of await conversationsIn(source, {
    name: "Claude",
    messages: "chat_messages",
  })) {
    const conversation = objectOf(value) ?? {};
    if (Array.isArray(conversation.chat_messages)) yield* messagesOf(conversation, location);
    else yield skip("claude", location, "it is not a conversation with messages");
  }
}

function* messagesOf(conversation: JsonObject, at: string): Generator<Read> {
  const { uuid, name, chat_messages } = conversation;
  const conversationId = idTextOf(uuid) ?? madeId([at, conversation]);
  const messages = located(chat_messages, `${at}.chat_messages`);
  yield* importEach(messages, { program: "claude", kind: "a message" }, (message) => ({
    id: message.uuid,
    text: said(message),
    facts: {
      conversation: name,
      conversation_id: conversationId,
      role: message.sender,
      created_at: message.created_at,
    },
    eventTime: timeOf(message.created_at),
  }));
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

/**
 * Reads the list of conversations of a data export. An empty list is one.
 *
 * @throws OtherFormatError if none of them has the member in which this program keeps their messages.
 */
async function conversationsIn(source: Source, { name, messages }: { name: string; messages: string }) {
  const json = await source.json();
  const conversations = located(json, "$");
  const isKnown = conversations.some(({ value }) => messages in (objectOf(value) ?? {}));
  if (!isKnown && listOf(json)?.length !== 0)
    throw otherFormat(`conversations.json of ${name}'s data export`);
  return conversations;
}
