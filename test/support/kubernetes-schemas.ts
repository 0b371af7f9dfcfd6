import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import type { KubernetesObject } from "./chart.js";

const BASE = "https://kubernetes.invalid/";

/** Checks objects by the schemas that `scripts/chart/tools.sh` has fetched, without a network. */
export class KubernetesSchemas {
  readonly #tools: string;
  readonly #ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    allErrors: true,
    code: { regExp: Object.assign(goRegExp, { code: "" }) },
  });
  readonly #folder: string;
  readonly #custom: Map<string, ValidateFunction>;

  /**
   * Reads the schemas.
   *
   * @param version of Kubernetes, such as `v1.37.0`
   */
  constructor(tools: string, version: string) {
    this.#tools = tools;
    this.#folder = join(tools, `kubernetes-${version}`);
    const definitions = this.#read("_definitions");
    this.#ajv.addSchema({ ...definitions, $id: `${BASE}api/_definitions.json` });
    this.#custom = this.#readCustom();
  }

  /** Lists the versions that have schemas. */
  static versions(tools: string): string[] {
    return readdirSync(tools).flatMap((name) => /^kubernetes-(v.*)$/.exec(name)?.[1] ?? []);
  }

  /** Lists the problems of an object, one a line. */
  problems(object: KubernetesObject): string[] {
    const { apiVersion, kind, metadata } = object;
    const validate = this.#custom.get(`${apiVersion}/${kind}`) ?? this.#builtIn(apiVersion, kind);
    if (validate(object)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${kind} ${metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  #builtIn(apiVersion: string, kind: string): ValidateFunction {
    const [group = "", version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const [family] = group.split(".");
    const name = [kind.toLowerCase(), family, version].filter((part) => part !== "").join("-");
    const $id = `${BASE}${name}.json`;
    return this.#ajv.getSchema($id) ?? this.#ajv.compile({ ...this.#read(name), $id });
  }

  #read(name: string): object {
    return JSON.parse(readFileSync(join(this.#folder, `${name}.json`), "utf8"));
  }

  #readCustom(): Map<string, ValidateFunction> {
    const found = new Map<string, ValidateFunction>();
    const folders = readdirSync(this.#tools).filter((name) => /^(gateway|prometheus|mongodb)-/.test(name));
    for (const folder of folders) {
      for (const file of readdirSync(join(this.#tools, folder))) {
        const { spec } = parse(readFileSync(join(this.#tools, folder, file), "utf8"));
        for (const { name, schema } of spec.versions) {
          const key = `${spec.group}/${name}/${spec.names.kind}`;
          // Like the API server with strict validation, it refuses everything that is not in the schema.
          found.set(key, this.#ajv.compile(closed(schema.openAPIV3Schema)));
        }
      }
    }
    return found;
  }
}

/** Converts a pattern in Go's syntax, which custom resources use. */
function goRegExp(pattern: string, flags: string): RegExp {
  const bare = pattern.replace("(?i)", "");
  return new RegExp(bare, bare === pattern ? flags : `${flags}i`);
}

// biome-ignore lint/suspicious/noExplicitAny: a schema of a schema would not help here.
type Schema = any;

/** Closes the schema to properties that it does not name; `metadata` is the server's own. */
function closed(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  const open = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties !== undefined;
  const inner = (schema: Readonly<Record<string, Schema>>) =>
    Object.fromEntries(
      Object.entries(schema).map(([name, each]) => [name, name === "metadata" ? each : closed(each)]),
    );
  return {
    ...schema,
    ...(properties && { properties: inner(properties), ...(!open && { additionalProperties: false }) }),
    ...(items && { items: closed(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: closed(additionalProperties) }),
  };
}
