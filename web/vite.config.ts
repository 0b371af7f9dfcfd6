import { fileURLToPath } from "node:url";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { type DescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { openapi } from "../gen/openapi.js";

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
  // The readers of imports are the command line's.
  resolve: {
    alias: { "node:crypto": fileURLToPath(new URL("src/transfer/node-crypto.ts", import.meta.url)) },
  },
  plugins: [withoutRules(), react(), paintOnceStyled(), reference()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    // Browsers of about the last two years.
    target: "es2023",
    // The Content-Security-Policy allows no data: URIs and, for Firefox, no preloading of modules.
    assetsInlineLimit: 0,
    modulePreload: false,
    license: { fileName: "licenses.md" },
  },
  server: { proxy: proxy() },
  preview: { proxy: proxy() },
});

/**
 * Takes the limits of fields out of the contract's description, and the description of their language: the server
 * checks them, and the portal's first load is smaller.
 */
function withoutRules(): Plugin {
  return {
    name: "without-rules",
    enforce: "pre",
    transform(code, id) {
      if (!/gen\/recalld\/v1\/\w+_pb\.ts$/.test(id)) return undefined;
      return code.replace(/fileDesc\("([^"]+)", \[(.*)\]\)/, (_, encoded: string, imports: string) => {
        const file = fromBinary(FileDescriptorProtoSchema, base64Decode(encoded));
        for (const message of file.messageType) dropOptions(message);
        const others = imports.split(", ").filter((name) => name !== "file_buf_validate_validate");
        const bare = base64Encode(toBinary(FileDescriptorProtoSchema, file), "std_raw");
        return `fileDesc("${bare}", [${others.join(", ")}])`;
      });
    },
  };
}

function dropOptions(message: DescriptorProto): void {
  for (const field of message.field) field.options = undefined;
  for (const nested of message.nestedType) if (!nested.options?.mapEntry) dropOptions(nested);
}

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

/** Writes the reference for programs, which the portal's `#/reference` is made from, beside the portal. */
function reference(): Plugin {
  return {
    name: "reference",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "openapi.json", source: JSON.stringify(openapi) });
    },
  };
}

function proxy(): Record<string, string> {
  return Object.fromEntries(SERVER_PATHS.map((path) => [path, SERVER]));
}
