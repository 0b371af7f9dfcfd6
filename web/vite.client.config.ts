import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/**
 * Builds `recalld.js`, the contract as protobuf-es code, which the TypeScript quick start downloads.
 * The user installs the libraries that it imports.
 */
export default defineConfig({
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
