import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { docsPages } from "../scripts/docs/plugin.js";

/** Builds the guides into `dist/web/docs`, apart from the portal: its first load has nothing of them. */
export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [docsPages()],
  build: {
    outDir: "../dist/web/docs",
    emptyOutDir: true,
    target: "es2023",
    // The Content-Security-Policy allows no data: URIs and, for Firefox, no preloading of modules.
    assetsInlineLimit: 0,
    modulePreload: false,
    license: { fileName: "assets/licenses.md" },
    rolldownOptions: { input: { docs: fileURLToPath(new URL("docs/main.ts", import.meta.url)) } },
  },
});
