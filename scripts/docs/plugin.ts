import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { makeSite } from "./site.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Adds the pages of the docs to Vite's build of their script and style. */
export function docsPages(): Plugin {
  return {
    name: "docs-pages",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const files = Object.keys(bundle);
        const find = (ending: string) => {
          const found = files.find((file) => file.endsWith(ending));
          if (found === undefined) this.error(`the docs have no ${ending} file`);
          return found;
        };
        for (const { path, bytes } of makeSite(ROOT, { script: find(".js"), style: find(".css") }))
          this.emitFile({ type: "asset", fileName: path, source: bytes });
      },
    },
  };
}
