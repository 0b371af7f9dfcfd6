import { Remote } from "./mcp/remote.js";
import { serveOnStdio } from "./mcp/stdio.js";

// This program is what a desktop app starts out of `recalld.mcpb`: it speaks to a server, and to nothing else.
const { RECALLD_URL: url = "", RECALLD_API_KEY: key = "", RECALLD_NAMESPACE: namespace = "" } = process.env;
const query = namespace === "" ? "" : `?namespace=${encodeURIComponent(namespace)}`;

const remote = new Remote({ find: async () => ({ url, key }), query });
await serveOnStdio(remote, (error) => console.error(error.message));
process.exit();
