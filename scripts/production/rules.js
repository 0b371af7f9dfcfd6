/** Packages that the program never calls. Their own needs go with them. */
export const LEFT_OUT = ["onnxruntime-web", "sharp"];

/** What is compiled into the portal; a test holds it against the imports in web/. */
export const PORTAL = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-query",
  "@connectrpc/connect-web",
  "@noble/hashes",
  "@tanstack/react-query",
  "highlight.js",
  "minisearch",
  "react",
  "react-dom",
];

/**
 * Imported by Transformers.js as soon as it is loaded, though called for images only. A package that
 * says so stands in for it: without libvips the process takes some 10 MB less, and there is no code for
 * pictures that has to be kept safe.
 */
export const STAND_INS = {
  sharp: 'module.exports = function sharp() {\n  throw new Error("recalld reads no images");\n};\n',
};

/** Compilers and people read these. Licences stay. */
const NEVER_READ = /\.(map|[cm]?ts|tsbuildinfo|c|cc|cpp|h|hpp|gypi?|flow)$/;
/** Transformers.js brings its source, types, and builds for browsers and CommonJS. */
const OTHER_BUILD = /\/@xenova\/transformers\/(src|types|dist\/(?!transformers\.node\.mjs$))/;

/**
 * Why a file of a needed package is left out; undefined if it is not.
 *
 * @param {string} path with `/`, as `node_modules/usearch/prebuilds/linux-arm64/usearch.node`
 * @param {{ platform: string, arch: string, libc: "glibc" | "musl", abi: string }} system
 */
export function whyLeftOut(path, system) {
  if (isForAnother(path, system)) return "binaries for other systems and versions of Node";
  if (OTHER_BUILD.test(path)) return "other builds of Transformers.js";
  if (NEVER_READ.test(path)) return "sources, types and maps";
  return undefined;
}

function isForAnother(path, { platform, arch, libc, abi }) {
  const [, os, cpu] = /\/onnxruntime-node\/bin\/napi-v\d+\/(\w+)\/(\w+)\//.exec(path) ?? [];
  if (os !== undefined) return os !== platform || cpu !== arch;
  // As prebuildify names them: `darwin-arm64+x64`, `node.napi.musl.node`, `node.abi127.glibc.node`.
  const [, folder] = /\/prebuilds\/([^/]+)\//.exec(path) ?? [];
  if (folder !== undefined && !isFolderFor(folder, platform, arch)) return true;
  const [, version, forLibc] = /\/node\.(?:napi|abi(\d+))(?:\.(glibc|musl))?\.node$/.exec(path) ?? [];
  return (forLibc !== undefined && forLibc !== libc) || (version !== undefined && version !== abi);
}

function isFolderFor(folder, platform, arch) {
  const [os, cpus = ""] = folder.split("-");
  return os === platform && cpus.split("+").includes(arch);
}
