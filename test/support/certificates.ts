import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

const KEYS = {
  a: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
  b: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"],
  rsa: ["-newkey", "rsa:2048"],
};

const SELF_SIGNED = [
  ...["req", "-x509", "-nodes", "-days", "2"],
  ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
];

/** Makes the self-signed certificates `a`, `b` and `rsa`, with their keys, in a folder that lasts as long as the tests. */
export function certificates() {
  const folder = mkdtempSync(join(tmpdir(), "recalld-tls-"));
  const file = (name: string) => join(folder, name);
  beforeAll(() => {
    for (const [name, key] of Object.entries(KEYS)) {
      const out = ["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)];
      execFileSync("openssl", [...SELF_SIGNED, ...key, ...out], { stdio: "pipe" });
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return { folder, file };
}
