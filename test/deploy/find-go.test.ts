import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT } from "../support/documents.js";

const folder = mkdtempSync(join(tmpdir(), "recalld go-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Looks for Go where the first one says that it has this version. */
function found(version: string): string {
  const go = join(folder, "go");
  writeFileSync(go, `#!/bin/sh\n[ "$*" = "env GOVERSION" ] && echo ${version}\n`);
  chmodSync(go, 0o755);
  // A cache of its own, which has none.
  const env = { PATH: `${folder}:${process.env.PATH}`, XDG_CACHE_HOME: folder };
  return spawnSync(join(ROOT, "scripts/find-go.sh"), { env, encoding: "utf8" }).stdout.trim();
}

test("a Go is found that is new enough, and an older one is passed over", () => {
  for (const version of ["go1.21.0", "go1.24", "go1.30.1", "go2.0"])
    expect(found(version)).toBe(join(folder, "go"));
  for (const version of ["go1.19.8", "go1.9", "go1.20.14", "", "devel"])
    expect(found(version)).not.toBe(join(folder, "go"));
});
