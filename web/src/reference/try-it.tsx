import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { Code } from "../parts/code";
import { SERVICE_URL } from "../session/client";
import { refresh, refreshMemories } from "../session/refresh";
import { currentKey, useSession } from "../session/session";
import { KeyHint } from "./key-hint";
import type { Call, Document, Parameter } from "./openapi";

export interface TryItProps {
  readonly document: Document;
  readonly call: Call;
  readonly parameters: readonly Parameter[];
  readonly example: unknown;
}

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

/** Sends a call exactly as written, with this tab's key, and shows the answer unchanged. */
export function TryIt({ document, call, parameters, example }: TryItProps) {
  const id = useId();
  const { key } = useSession();
  const [body, setBody] = useState(example === undefined ? "" : JSON.stringify(example, null, 2));
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const shown = parameters.filter(({ in: where }) => where === "path" || where === "query");
  const attempt = useMutation({
    mutationFn: () => send(call, shown, values, body),
    onSuccess: () => {
      refresh("account", "usage", "keys");
      refreshMemories();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempt.mutate();
  };
  return (
    <form method="post" className="stack try" onSubmit={submit}>
      {key === undefined ? (
        <p className="hint">Sign in first. Without a key, most calls answer 401.</p>
      ) : (
        <KeyHint {...{ document, call }} />
      )}
      {shown.map(({ name, required = false }) => (
        <div key={name} className="field">
          <label htmlFor={id + name}>{name}</label>
          <input
            id={id + name}
            required={required}
            autoComplete="off"
            value={values[name] ?? ""}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        </div>
      ))}
      {example !== undefined && (
        <div className="field">
          <label htmlFor={`${id}body`}>Body</label>
          <textarea
            id={`${id}body`}
            className="mono"
            rows={Math.min(body.split("\n").length + 1, 14)}
            spellCheck={false}
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        </div>
      )}
      <div className="actions">
        <button type="submit" className="button-main" disabled={attempt.isPending}>
          Send
        </button>
        <span className="quiet" role="status">
          {attempt.data && `${attempt.data.status} in ${attempt.data.ms} ms`}
          {attempt.error && `No answer: ${attempt.error.message}`}
        </span>
      </div>
      {attempt.data && <Code text={attempt.data.text} what="answer" />}
    </form>
  );
}

/** Sends plain HTTP, not through the client like other calls, so that users can also try wrong input. */
async function send(
  { method, path }: Call,
  parameters: readonly Parameter[],
  values: Readonly<Record<string, string>>,
  body: string,
): Promise<Answer> {
  const url = new URL(
    SERVICE_URL + path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "")),
  );
  for (const { name, in: where } of parameters) {
    if (where === "query" && values[name]) url.searchParams.set(name, values[name]);
  }
  const headers = new Headers();
  const key = currentKey();
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
  const sendsBody = method !== "get" && body !== "";
  if (sendsBody) headers.set("content-type", "application/json");
  const start = performance.now();
  const response = await fetch(url, { method: method.toUpperCase(), headers, ...(sendsBody && { body }) });
  const text = await response.text();
  return { status: response.status, ms: Math.round(performance.now() - start), text: pretty(text) };
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
