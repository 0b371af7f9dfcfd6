import type { JsonObject } from "../../memory/input/metadata.js";
import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, textOf } from "./parts.js";

/** Authors whose messages are taken; the rest are tools and instructions. */
const ROLES = ["user", "assistant"];

/**
 * Reads `conversations.json` of ChatGPT's data export: a list of conversations, each a tree of messages. Of
 * each the texts of the branch that is shown last are taken, in their order.
 */
export async function* readChatGpt(source: Source): AsyncGenerator<Imported | Skipped> {
  const conversations = listOf(await source.json())?.map(objectOf);
  if (!conversations?.every((each) => objectOf(each?.mapping) !== undefined)) {
    throw otherFormat("conversations.json of ChatGPT's data export");
  }
  for (const conversation of conversations) yield* messagesOf(conversation as JsonObject);
}

function* messagesOf(conversation: JsonObject): Generator<Imported | Skipped> {
  const { title, conversation_id: id, id: oldId } = conversation;
  for (const message of branchOf(conversation)) {
    const role = objectOf(message.author)?.role;
    if (!ROLES.includes(String(role)) || isHidden(message)) continue;
    const createdAt = typeof message.create_time === "number" ? message.create_time : undefined;
    yield imported({
      ...{ program: "chatgpt", id: String(message.id), text: partsOf(message) },
      facts: {
        ...{ conversation: title, conversation_id: id ?? oldId, role },
        created_at: createdAt === undefined ? undefined : new Date(createdAt * 1000).toISOString(),
      },
    });
  }
}

/** Walks from the node that is shown last to the root; answers its messages from the root on. */
function branchOf({ mapping, current_node }: JsonObject): JsonObject[] {
  const nodes = objectOf(mapping) ?? {};
  const messages: JsonObject[] = [];
  const seen = new Set<string>();
  let at = typeof current_node === "string" ? current_node : lastOf(nodes);
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    const node = objectOf(nodes[at]);
    const message = objectOf(node?.message);
    if (message !== undefined) messages.push(message);
    at = typeof node?.parent === "string" ? node.parent : undefined;
  }
  return messages.reverse();
}

/** Older exports name no current node: the last one without children is it. */
function lastOf(nodes: JsonObject): string | undefined {
  return Object.keys(nodes)
    .reverse()
    .find((id) => listOf(objectOf(nodes[id])?.children)?.length === 0);
}

function isHidden({ metadata }: JsonObject): boolean {
  return objectOf(metadata)?.is_visually_hidden_from_conversation === true;
}

/** Joins the parts of a message that are texts; others are pictures and files. */
function partsOf({ content }: JsonObject): string | undefined {
  const parts = listOf(objectOf(content)?.parts) ?? [];
  return textOf(parts.filter((part) => typeof part === "string").join("\n"));
}
