// node health.js: ends with 0 if the server that has the same settings is alive, else with 1. For the image's
// HEALTHCHECK, as there is no curl in it; Kubernetes asks by itself.
import { get as overHttp } from "node:http";
import { get as overHttps } from "node:https";

const TIMEOUT_MS = 4_000;
/** Everywhere is no address to call. */
const EVERYWHERE = ["0.0.0.0", "::"];

// As in the program, an empty variable counts as absent.
const { PORT, HOST, TLS_CERT } = process.env;
const get = TLS_CERT ? overHttps : overHttp;
const asked = get({
  host: !HOST || EVERYWHERE.includes(HOST) ? "localhost" : HOST,
  port: PORT || 8080,
  path: "/livez",
  // The certificate is for the name by which others call; this asks the process beside it.
  rejectUnauthorized: false,
  timeout: TIMEOUT_MS,
});
asked.on("response", ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
asked.on("timeout", () => process.exit(1));
asked.on("error", () => process.exit(1));
