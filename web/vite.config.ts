import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where `npm run dev:web` and `vite preview` find the server. */
const SERVER = "http://127.0.0.1:8080";
const SERVER_PATHS = ["/recalld.v1.", "/store", "/recall", "/signup", "/openapi.json"];

export default defineConfig({
  // Relative paths throughout, so that one build works under any path.
  base: "./",
  plugins: [react(), paintOnceStyled()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // The browsers of the last two years or so.
    target: "es2023",
    // The Content-Security-Policy has no data: URIs and, for Firefox, no preloading of modules.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  server: { proxy: proxy() },
  preview: { proxy: proxy() },
});

/** Holds back the first paint until the script has set the theme: no flash of the other one. */
function paintOnceStyled(): Plugin {
  return {
    name: "paint-once-styled",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
  };
}

function proxy(): Record<string, string> {
  return Object.fromEntries(SERVER_PATHS.map((path) => [path, SERVER]));
}
