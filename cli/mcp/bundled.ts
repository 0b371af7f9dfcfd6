import { addressOf } from "../profile.js";
import { Remote } from "./remote.js";
import { serveOnStdio } from "./stdio.js";

// This program is what a desktop app starts out of `recalld.mcpb`: it speaks to a server, and to nothing else.
const { RECALLD_URL: url = "", RECALLD_API_KEY: key, RECALLD_NAMESPACE: namespace = "" } = process.env;
const query = namespace === "" ? "" : `?namespace=${encodeURIComponent(namespace)}`;

const remote = new Remote({ find: async () => ({ url: addressOf(url), key: key || undefined }), query });
await serveOnStdio(remote, (error) => console.error(error.message));
process.exit();
