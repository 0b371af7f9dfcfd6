import { Ajv, type SchemaObject } from "ajv";

const text: SchemaObject = { type: "string", minLength: 1 };
const texts: SchemaObject = { type: "array", items: { type: "string" } };
const table: SchemaObject = { type: "object", additionalProperties: { type: "string" } };
const address: SchemaObject = { type: "string", pattern: "^https?://.+" };

/** Makes the schema of an object with these fields and no others. */
function closed(required: readonly string[], properties: Record<string, SchemaObject>): SchemaObject {
  return { type: "object", additionalProperties: false, required: [...required], properties };
}

/** Makes the schema of a file with servers by their names, under one key. */
function file(key: string, servers: readonly SchemaObject[], more: Record<string, SchemaObject> = {}) {
  const each = { type: "object", minProperties: 1, additionalProperties: { oneOf: [...servers] } };
  return closed([key], { [key]: each, ...more });
}

const started = { command: text, args: texts, env: table };
const promptString = closed(["type", "id", "description"], {
  type: { const: "promptString" },
  id: text,
  description: text,
  default: text,
  password: { type: "boolean" },
});

/**
 * Configurations that each program takes, written down here from its documentation in November 2026: its names of
 * fields, which of them it needs, and nothing that it would not know. None of them is the program's own file.
 */
const FILES: Record<string, SchemaObject> = {
  // https://code.claude.com/docs/en/mcp
  "Claude Code": file("mcpServers", [
    closed(["command"], { type: { const: "stdio" }, ...started }),
    closed(["type", "url"], { type: { enum: ["http", "sse"] }, url: address, headers: table }),
  ]),
  // https://modelcontextprotocol.io/quickstart/user
  "Claude Desktop": file("mcpServers", [closed(["command"], started)]),
  // https://cursor.com/docs/mcp
  Cursor: file("mcpServers", [
    closed(["command"], { type: { const: "stdio" }, ...started, envFile: text }),
    closed(["url"], { url: address, headers: table }),
  ]),
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration, and the schema in its source
  "VS Code": file(
    "servers",
    [
      closed(["command"], { type: { const: "stdio" }, ...started, envFile: text, cwd: text }),
      closed(["url"], { type: { enum: ["http", "sse"] }, url: address, headers: table }),
    ],
    { inputs: { type: "array", items: promptString } },
  ),
  // https://developers.openai.com/codex/mcp, and config.schema.json in its source
  Codex: file("mcp_servers", [
    closed(["command"], { ...started, cwd: text, env_vars: texts }),
    closed(["url"], {
      url: address,
      bearer_token_env_var: { type: "string", pattern: "^\\w+$" },
      http_headers: table,
      env_http_headers: table,
    }),
  ]),
};

/** Commands by which a program adds a server, as its documentation has them. */
const COMMANDS: Record<string, RegExp> = {
  "Claude Code":
    /^claude mcp add( --scope (local|user|project))?( --transport (stdio|http|sse))? \w+ (-- \S.*|https?:\S+( --header "[\w-]+: [^"]+")*)$/,
  Codex: /^codex mcp add \w+ (--url https?:\S+( --bearer-token-env-var \w+)?|-- \S.*)$/,
};

const ajv = new Ajv({ allErrors: true });

/** Programs whose configuration is known. */
export const HOSTS = Object.keys(FILES);

/** Lists what a program would not take of a configuration. */
export function faultsIn(host: string, configuration: unknown): string[] {
  if (ajv.validate(FILES[host] as SchemaObject, configuration)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** True if a program has such a command. */
export function isCommand(host: string, line: string): boolean {
  return COMMANDS[host]?.test(line) === true;
}

/** Reads the tables and texts of TOML, and nothing else of it. */
export function tomlOf(lines: string): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  let at = root;
  for (const line of lines.split("\n").filter((each) => each.trim() !== "")) {
    const [, path] = /^\[([\w.]+)\]$/.exec(line) ?? [];
    const [, name, value] = /^(\w+) = ("[^"]*")$/.exec(line) ?? [];
    if (path !== undefined) {
      at = root;
      for (const part of path.split(".")) {
        at[part] ??= {};
        at = at[part] as Record<string, unknown>;
      }
    } else if (name !== undefined) at[name] = JSON.parse(value as string);
    else throw new Error(`not read here: ${line}`);
  }
  return root;
}
