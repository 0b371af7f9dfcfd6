#!/usr/bin/env node
// The one program: it serves, operates a database, manages models, or calls a server for its users. Each part
// is loaded only where it is asked for, because the server's takes a second.
const [command, ...rest] = process.argv.slice(2);
const HELPS = ["-h", "--help", "--version"];

const PARTS: Readonly<Record<string, () => Promise<unknown>>> = {
  serve: () => import("./serve.js"),
  admin: () => import("./admin.js"),
  model: () => import("./model.js"),
  mcp: () => import("../cli/mcp/main.js"),
};
// Options alone are the server's, but for those that ask about the whole program.
const isServe = command === undefined || (command.startsWith("-") && !HELPS.includes(command));
const part = isServe ? PARTS.serve : Object.hasOwn(PARTS, command) ? PARTS[command] : undefined;

if (part === undefined) {
  void import("../cli/main.js");
} else {
  if (command !== undefined && !command.startsWith("-")) process.argv.splice(2, process.argv.length, ...rest);
  void part();
}
