import { isIP } from "node:net";
import { type Environment, misspelt, type Setting } from "./settings.js";

/** The longest instruction in front of a query that any model's card asks for is some 150. */
const PREFIX_CHARS_MAX = 1_000;

/** Protocol of OpenTelemetry's that its specification has SDKs speak. */
const OTLP_PROTOCOL = "http/protobuf";

/** Reads single settings; a malformed one is noted, and its fallback taken, so that all are read. */
export class SettingReader {
  readonly problems: string[];

  constructor(private readonly env: Environment) {
    this.problems = misspelt(env);
  }

  text(name: Setting): string | undefined {
    return this.env[name] || undefined;
  }

  number(name: Setting, { fallback, min, max }: { fallback: number; min: number; max: number }): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (parsed >= min && parsed <= max) return parsed;
    this.problems.push(
      `${name} is ${JSON.stringify(value)}; it must be a whole number from ${min} to ${max}`,
    );
    return fallback;
  }

  choice<T extends string>(name: Setting, choices: readonly T[], fallback: T): T {
    const value = this.text(name) ?? fallback;
    if ((choices as readonly string[]).includes(value)) return value as T;
    this.problems.push(`${name} is ${JSON.stringify(value)}; it must be one of ${choices.join(", ")}`);
    return fallback;
  }

  /** An empty variable counts as absent, and files of variables hold no line breaks: hence `none` and `\n`. */
  prefix(name: Setting): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (value.length > PREFIX_CHARS_MAX) {
      this.problems.push(`${name} is ${value.length} characters; the limit is ${PREFIX_CHARS_MAX}`);
    }
    return value === "none" ? "" : value.replaceAll("\\n", "\n");
  }

  /** Values between commas; `whyNot` says what is wrong with one. */
  list(name: Setting, whyNot: (value: string) => string | undefined): readonly string[] {
    const values = (this.text(name) ?? "").split(",").flatMap((value) => value.trim() || []);
    for (const value of values) {
      const wrong = whyNot(value);
      if (wrong !== undefined) this.problems.push(`${name} holds ${JSON.stringify(value)}; ${wrong}`);
    }
    return Object.freeze(values);
  }

  plansFile(): string | undefined {
    const file = this.text("PLANS_FILE");
    if (file !== undefined && this.text("FREE_CALLS") !== undefined) {
      this.problems.push("FREE_CALLS is set beside PLANS_FILE, which says the calls of every plan");
    }
    return file;
  }

  mongodbUri(): string | undefined {
    const uri = this.text("MONGODB_URI");
    // The value is not repeated: it may hold a password.
    if (uri !== undefined && !/^mongodb(\+srv)?:\/\/./.test(uri)) {
      this.problems.push("MONGODB_URI must begin with mongodb:// or mongodb+srv://");
    }
    return uri;
  }

  modelsHub(): string | undefined {
    const url = this.text("MODELS_HUB");
    if (url === undefined || (/^https?:/.test(url) && URL.canParse(url))) return url?.replace(/\/+$/, "");
    this.problems.push(
      `MODELS_HUB is ${JSON.stringify(url)}; it must be a URL, such as https://huggingface.co`,
    );
    return undefined;
  }

  otlpEndpoint(): string | undefined {
    const url = this.text("OTEL_EXPORTER_OTLP_ENDPOINT");
    if (url === undefined) return undefined;
    this.#collector("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    this.#collector("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces");
    for (const name of ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]) {
      const protocol = this.env[name] || OTLP_PROTOCOL;
      if (protocol === OTLP_PROTOCOL) continue;
      this.problems.push(`${name} is ${JSON.stringify(protocol)}; traces are sent by ${OTLP_PROTOCOL}`);
    }
    return url;
  }

  /**
   * Checks a collector's address. The library would log one that it cannot use, with the password that it may
   * hold; here the value is not repeated.
   */
  #collector(name: string, example: string): void {
    const url = this.env[name];
    if (!url || (/^https?:/.test(url) && URL.canParse(url))) return;
    this.problems.push(`${name} must be a URL, such as ${example}`);
  }

  publicUrl(): string | undefined {
    const url = this.text("PUBLIC_URL");
    const origin = url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
    if (url === undefined || (origin?.startsWith("https://") && url.replace(/\/$/, "") === origin))
      return origin;
    this.problems.push(
      `PUBLIC_URL is ${JSON.stringify(url)}; it must be an origin of HTTPS, such as https://memory.example.org`,
    );
    return undefined;
  }

  tls(): { readonly certFile: string; readonly keyFile: string } | undefined {
    const certFile = this.text("TLS_CERT");
    const keyFile = this.text("TLS_KEY");
    if (certFile !== undefined && keyFile !== undefined) return Object.freeze({ certFile, keyFile });
    if (certFile !== undefined) this.problems.push("TLS_CERT is set without TLS_KEY; HTTPS needs both");
    if (keyFile !== undefined) this.problems.push("TLS_KEY is set without TLS_CERT; HTTPS needs both");
    return undefined;
  }
}

export function whyNoBlock(value: string): string | undefined {
  const [address = "", length = "", ...rest] = value.split("/");
  const lengthMax = { 0: 0, 4: 32, 6: 128 }[isIP(address)] as number;
  const good = /^\d{1,3}$/.test(length) && Number(length) <= lengthMax && rest.length === 0;
  if (!good) return "it must be a block of addresses (CIDR), such as 10.0.0.0/8 or 192.0.2.7/32";
  // Otherwise every caller could choose its own address.
  return Number(length) === 0 ? "it would trust everybody; name the proxies' own addresses" : undefined;
}

export function whyNoOrigin(value: string): string | undefined {
  if (value === "*" || (/^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value)) {
    return undefined;
  }
  return "it must be an origin, such as https://app.example.org, or * for all";
}
