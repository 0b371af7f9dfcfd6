// Who may import whom. `npm run check` holds it, and test/layers.test.ts plants imports that it must find.
// src/recalld.ts, which starts either the service or the command line, is not asked: both sides of it would be
// a cycle of folders.

/** Small files that all of src may import: an error, a version, a loop, JSON and pieces of text, suggestions. */
const commons =
  "^src/((errors|json-tokens|lines|make-folder|number-heap|parse-json|progress|suggest|version)\\.ts$|concurrency/)";

/** Starts and stops the service or a command: these files and `compose` may import everything. */
const entries = "^(src/(admin|compose|main|model|serve)\\.ts$|src/compose/|cli/mcp/main\\.ts$)";

/** Each folder, and what else of the project its files may import besides the commons. */
const layers = {
  "src/memory": [],
  "src/memory/ports": [],
  "src/accounts": ["src/memory/(ports|requests)"],
  "src/config": ["src/accounts"],
  "src/storage": ["src/memory/(ports|format)", "src/accounts"],
  "src/index": ["src/memory/(ports|requests)"],
  "src/embedding": ["src/memory/ports"],
  "src/observability": ["src/memory/(ports|log)"],
  "src/admin": ["src/memory", "src/accounts"],
  "src/server": ["src/memory", "src/accounts", "gen"],
  cli: [
    "src/admin",
    "src/memory/requests",
    "src/server/json-text",
    "src/server/mcp",
    "clients/typescript/src",
  ],
};

/** Folders that import nothing of the project besides themselves. */
const apart = ["clients/typescript/src", "examples", "gen"];

/** Each package of `dependencies`, and the folders that may import it. No other package may be imported. */
const packages = {
  "@bomb.sh/tab": "cli",
  "@bufbuild/protobuf": "gen|src/server",
  "@connectrpc/": "src/server",
  "@fastify/": "src/server",
  "@modelcontextprotocol/server": "src/server/mcp|cli/mcp",
  "@node-oauth/oauth2-server": "src/server/oauth",
  "@opentelemetry/": "src/observability",
  "@xenova/transformers": "src/embedding",
  commander: "src/admin|cli",
  fastify: "src/server",
  "ipaddr.js": "src/server",
  lmdb: "src/storage/local",
  "lru-cache": "src",
  mongodb: "src/storage/mongo",
  pino: "src/server",
  "prom-client": "src/observability",
  stemmer: "src/index/words",
  "typeid-js": "src",
  usearch: "src/index/vectors",
  zod: "src/config",
};

const project = "^(src|cli|gen|web|clients|examples|bench|eval|test)/";

const rule = (name, from, to) => ({ name, severity: "error", from, to });

module.exports = {
  forbidden: [
    rule("no-cycle", {}, { circular: true }),
    { ...rule("no-cycle-of-folders", {}, { circular: true }), scope: "folder" },
    ...Object.entries(layers).map(([layer, may]) =>
      rule(
        layer,
        { path: `^${layer}/`, pathNot: entries },
        { path: project, pathNot: [commons, `^${layer}/`, ...may.map((to) => `^${to}[/.]`)] },
      ),
    ),
    ...apart.map((folder) =>
      rule(folder, { path: `^${folder}/` }, { path: project, pathNot: `^${folder}/` }),
    ),
    rule(
      "folder without a layer",
      {
        path: "^src/[^/]+/",
        pathNot: [entries, commons, ...Object.keys(layers).map((layer) => `^${layer}/`)],
      },
      { path: "." },
    ),
    rule(
      "commons",
      { path: "^src/[^/]+\\.ts$|^src/concurrency/", pathNot: entries },
      { path: "^(src/[^/]+|cli|gen|web|clients)/", pathNot: "^src/concurrency/" },
    ),
    rule("command line from the service", { path: "^src/" }, { path: "^cli/" }),
    rule(
      "database from its own folder",
      { path: "^src/storage/(local|mongo)/" },
      { path: "^src/storage/(local|mongo)/", pathNot: "^src/storage/$1/" },
    ),
    rule(
      "no input or output in the domain",
      { path: "^src/(memory|accounts)/" },
      { dependencyTypes: ["core"], pathNot: "^(crypto|events|timers/promises|zlib)$" },
    ),
    ...Object.entries(packages).map(([name, owners]) =>
      rule(
        name,
        { path: "^(src|cli|gen)/", pathNot: [`^(${owners})/`, entries] },
        { path: `^node_modules/${name}(/|$)`.replace("/(/|$)", "/") },
      ),
    ),
    rule(
      "package of no folder",
      { path: "^(src|cli|gen)/" },
      { path: "^node_modules/", pathNot: Object.keys(packages).map((name) => `^node_modules/${name}`) },
    ),
    rule(
      "client without Node and without packages",
      { path: "^clients/typescript/src/" },
      {
        dependencyTypes: ["core", "npm", "npm-dev", "npm-peer", "npm-optional"],
        pathNot: "^node_modules/(@langchain|ai)/",
      },
    ),
    rule(
      "package of an adapter",
      { path: "^clients/typescript/src/", pathNot: "^clients/typescript/src/adapters/" },
      { path: "^node_modules/" },
    ),
  ],
  options: {
    // dependency-cruiser cannot use TypeScript 7, and sees no imports at all without another parser.
    parser: "swc",
    // An import of a type is an import.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "^(node_modules|test)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types"],
      extensions: [".ts", ".js"],
    },
  },
};
