import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const GENERATED = fileURLToPath(new URL("../dist/gen/recalld/v1", import.meta.url));
const IMPORT = /^import type \{ (.*) \} from (".*");\n/gm;

/**
 * Writes the contract's types into one file beside the code. `tsc` has written them before, in a file for each
 * service, which import nothing but types of the libraries.
 */
function types(): Plugin {
  return {
    name: "types",
    generateBundle() {
      const parts = ["account", "memory"].map((name) => readFileSync(`${GENERATED}/${name}_pb.d.ts`, "utf8"));
      const named = new Map<string, Set<string>>();
      for (const [, names = "", from = ""] of parts.join("").matchAll(IMPORT)) {
        const all = named.get(from) ?? new Set();
        for (const name of names.split(", ")) all.add(name);
        named.set(from, all);
      }
      const imports = [...named].map(
        ([from, names]) => `import type { ${[...names].join(", ")} } from ${from};`,
      );
      const code = parts.map((part) => part.replace(IMPORT, "")).join("");
      this.emitFile({ type: "asset", fileName: "recalld.d.ts", source: `${imports.join("\n")}\n${code}` });
    },
  };
}

/**
 * Builds `recalld.js`, the contract as protobuf-es code, which the TypeScript quick start downloads with its types.
 * The user installs the libraries that it imports.
 */
export default defineConfig({
  publicDir: false,
  plugins: [types()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: false,
    target: "es2022",
    lib: {
      entry: fileURLToPath(new URL("client.ts", import.meta.url)),
      formats: ["es"],
      fileName: () => "recalld.js",
    },
    rolldownOptions: { external: /^@bufbuild\/protobuf/ },
  },
});
