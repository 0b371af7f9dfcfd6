/** Maximum size of an address that codes are sent to. */
export const REDIRECT_BYTES_MAX = 512;

/** Address of a program on the user's own machine. Its port is free (RFC 8252, 7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/;

/** Editors whose addresses have a scheme without a dot, against RFC 8252, 7.1. */
const EDITORS = new Set(["cursor", "vscode", "vscode-insiders", "windsurf"]);

/**
 * Returns what is wrong with an address that codes are to be sent to, or undefined if nothing is. It must be of HTTPS, of
 * this machine, or of an application's own scheme: `javascript:` and the like would run in the portal.
 */
export function whyNoRedirect(uri: unknown): string | undefined {
  if (typeof uri !== "string") return "is not a text";
  if (uri.length > REDIRECT_BYTES_MAX) return `is longer than ${REDIRECT_BYTES_MAX} characters`;
  // What a browser reads differently than it is written could lead elsewhere than it is shown.
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri)) return "has characters that no address has";
  if (uri.includes("#")) return "has a fragment";
  if (!URL.canParse(uri)) return "is not an absolute address";
  const { protocol, username, password, host } = new URL(uri);
  if (username !== "" || password !== "") return "has a user name";
  if (protocol === "https:") return host !== "" && uri.startsWith(`https://`) ? undefined : "names no host";
  if (protocol === "http:") return LOOPBACK.test(uri) ? undefined : "is not of HTTPS, nor of this machine";
  const scheme = protocol.slice(0, -1);
  if (!uri.startsWith(`${scheme}:/`)) return "is not an address of an application";
  return scheme.includes(".") || EDITORS.has(scheme)
    ? undefined
    : "has a scheme that is neither https nor an application's own, such as com.example.app";
}

/** True if an address is one that the client has registered: the same, but for the port on this machine. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (whyNoRedirect(uri) !== undefined) return false;
  return registered.some((each) => each === uri || (LOOPBACK.test(uri) && bare(each) === bare(uri)));
}

function bare(uri: string): string {
  return uri.replace(LOOPBACK, "$1");
}

/** Names where an address leads, for people: a host, this device, or the scheme of an application. */
export function destinationOf(uri: string): { readonly host: string; readonly isLocal: boolean } {
  const { protocol, host } = new URL(uri);
  if (protocol === "https:") return { host, isLocal: false };
  return { host: protocol === "http:" ? host : protocol.slice(0, -1), isLocal: true };
}
