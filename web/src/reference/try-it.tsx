import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Code } from "../code/code";
import { whileBusy } from "../parts/busy";
import { Confirm } from "../parts/confirm";
import { refresh, refreshMemories } from "../session/refresh";
import { useSession } from "../session/session";
import { type Call, destroys } from "./calls";
import { KeyHint } from "./key-hint";
import type { Document } from "./openapi";
import { type Answer, newIdempotencyKey, send } from "./send";
import { TryFields } from "./try-fields";

export interface TryItProps {
  readonly document: Document;
  readonly call: Call;
  readonly example: unknown;
}

/** Calls that take so much away that their name has to be typed first. */
const TYPED = new Set(["DeleteNamespace", "DeleteNamespaces", "CloseAccount"]);

/** Sends a call exactly as written, as the browser is signed in, and shows the answer unchanged. */
export function TryIt({ document, call, example }: TryItProps) {
  const { signedIn } = useSession();
  const [body, setBody] = useState(example === undefined ? "" : JSON.stringify(example, null, 2));
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => ({
    "Idempotency-Key": newIdempotencyKey(),
  }));
  const [asking, setAsking] = useState(false);
  const attempt = useMutation({
    mutationFn: () => send(call, values, body),
    onSuccess: () => {
      setAsking(false);
      refresh("account", "usage", "keys");
      refreshMemories();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (destroys(call)) setAsking(true);
    else attempt.mutate();
  };
  return (
    <section className="card stack">
      <h2>Try it</h2>
      <form method="post" className="stack" onSubmit={submit}>
        {!signedIn ? (
          <p className="hint">Sign in first. Without a key, most calls answer 401.</p>
        ) : (
          <KeyHint document={document} call={call} />
        )}
        <TryFields
          parameters={call.parameters}
          values={values}
          onValues={setValues}
          body={example === undefined ? undefined : body}
          onBody={setBody}
        />
        <div className="actions">
          <button
            type="submit"
            className={destroys(call) ? "button-danger-quiet" : "button-main"}
            {...whileBusy(attempt.isPending)}
          >
            Send
          </button>
          <Outcome answer={attempt.data} error={attempt.error} />
        </div>
        {attempt.data && <Code text={attempt.data.text} what="answer" language="json" />}
      </form>
      {asking && (
        <Confirm
          title={`Send ${call.name}?`}
          action={`Send ${call.name}`}
          {...(TYPED.has(call.name) && { typed: call.name })}
          busy={attempt.isPending}
          error={attempt.error}
          onConfirm={() => attempt.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>The server does it at once, with the key in use here. It cannot be undone.</p>
        </Confirm>
      )}
    </section>
  );
}

function Outcome({ answer, error }: { answer: Answer | undefined; error: Error | null }) {
  return (
    <span className="quiet" role="status">
      {answer && `${answer.status} in ${answer.ms} ms`}
      {answer?.replayed && ", replayed: the same was sent before"}
      {error && `No answer: ${error.message}`}
    </span>
  );
}
