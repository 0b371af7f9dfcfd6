import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Address of the server that `npx vite web` and `npx vite preview web` forward calls to. */
const SERVER = "http://127.0.0.1:8080";
const SERVER_PATHS = [
  "/recalld.v1.",
  "/store",
  "/recall",
  "/signup",
  "/session",
  "/authorize/",
  "/openapi.json",
];

export default defineConfig({
  // All paths are relative, so that one build works under any path.
  base: "./",
  plugins: [react(), paintOnceStyled()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // Browsers of about the last two years.
    target: "es2023",
    // The Content-Security-Policy allows no data: URIs and, for Firefox, no preloading of modules.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  server: { proxy: proxy() },
  preview: { proxy: proxy() },
});

/** Delays the first paint until the script has set the theme, so that the other theme never flashes. */
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
