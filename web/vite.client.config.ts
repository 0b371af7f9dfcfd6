import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/**
 * Builds `recalld.js`: the contract as protobuf-es knows it, for the TypeScript quick start to
 * download. The libraries it imports are the user's own.
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
