// Starts a program of the bundle that `scripts/test.js` makes. Code that V8 compiled in one process is kept beside the
// bundle's files for those that follow: compiling is a quarter of the work of a server's start.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

/** @param {URL} program a file of the bundle, in CommonJS: Node 20 keeps no code of other modules */
export function start(program) {
  const folder = dirname(fileURLToPath(program));
  const { _compile } = Module.prototype;
  const scripts = new Map();
  Module.prototype._compile = function (source, path) {
    if (dirname(path) !== folder) return _compile.call(this, source, path);
    const kept = `${path}.cache`;
    const cachedData = existsSync(kept) ? readFileSync(kept) : undefined;
    const wrapped = Module.wrap(source.replace(/^(#!.*)?/, '"use strict";'));
    const script = new vm.Script(wrapped, { filename: path, cachedData });
    if (cachedData === undefined) scripts.set(kept, script);
    const run = script.runInThisContext();
    return run.call(this.exports, this.exports, createRequire(path), this, path, folder);
  };
  process.once("exit", () => {
    for (const [kept, script] of scripts) {
      // Another process may read it.
      const draft = `${kept}-${process.pid}`;
      writeFileSync(draft, script.createCachedData());
      renameSync(draft, kept);
    }
  });
  createRequire(program)(fileURLToPath(program));
}
