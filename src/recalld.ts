#!/usr/bin/env node
// The one program: it serves, operates a database, manages models, or calls a server for its users. Each part
// is loaded only where it is asked for, because the server's takes a second.
const [command, ...rest] = process.argv.slice(2);

const PARTS: Readonly<Record<string, () => Promise<unknown>>> = {
  serve: () => import("./main.js"),
  admin: () => import("./admin.js"),
  model: () => import("./model.js"),
  mcp: () => import("./mcp.js"),
};
const part = PARTS[command ?? "serve"];

if (part === undefined) {
  await import("./cli.js");
} else {
  process.argv.splice(2, process.argv.length, ...rest);
  await part();
}
