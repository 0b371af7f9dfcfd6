import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData, useMutation } from "@tanstack/react-query";
import { type FormEvent, useDeferredValue, useState } from "react";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { useDeliberate } from "./deliberate";
import { type Answer, type AuthorizationRequest, sendAnswer } from "./request";

/** Number of namespaces that are suggested at a time. */
const SUGGESTED_MAX = 100;
const DAYS: readonly (readonly [days: number, text: string])[] = [
  [1, "in a day"],
  [7, "in 7 days"],
  [30, "in 30 days"],
  [90, "in 90 days"],
  [365, "in a year"],
];
const DAYS_DEFAULT = 30;

/** Form by which the user chooses rights and namespace, and allows or denies. */
export function ConsentForm({ request }: { request: AuthorizationRequest }) {
  const [access, setAccess] = useState<"full" | "read_only">(request.reads_only ? "read_only" : "full");
  const [namespace, setNamespace] = useState("");
  const [days, setDays] = useState(DAYS_DEFAULT);
  const { isReady, isDeliberate } = useDeliberate();
  const [ignored, setIgnored] = useState(false);
  const answer = useMutation({ mutationFn: (given: Answer) => sendAnswer(given) });
  // The page is left then, unless a program of this device takes over beside it.
  const isDone = answer.isPending || answer.isSuccess;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIgnored(!isDeliberate());
    if (isDeliberate()) answer.mutate({ allow: true, access, namespace, days });
  };
  return (
    <form method="post" className="stack" onSubmit={submit}>
      <fieldset className="choices">
        <legend>It may</legend>
        {!request.reads_only && (
          <label>
            <input
              type="radio"
              name="access"
              checked={access === "full"}
              onChange={() => setAccess("full")}
            />
            <span>
              <strong>Read and write</strong>
              <span className="hint">Store, recall, change and delete memories.</span>
            </span>
          </label>
        )}
        <label>
          <input
            type="radio"
            name="access"
            checked={access === "read_only"}
            onChange={() => setAccess("read_only")}
          />
          <span>
            <strong>Only read</strong>
            <span className="hint">Recall, read and list.</span>
          </span>
        </label>
      </fieldset>
      <Namespace namespace={namespace} onChange={setNamespace} />
      <div className="field">
        <label htmlFor="authorize-days">The key ends</label>
        <select id="authorize-days" value={days} onChange={({ target }) => setDays(Number(target.value))}>
          {DAYS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <p className="hint">
        It gets a key of its own, which you can revoke under API keys at any time. With it, it can never
        manage keys or close the account.
      </p>
      <ErrorNote error={answer.error} />
      {answer.isSuccess && <p role="status">You are sent on. You can close this page.</p>}
      <div className="actions">
        <button type="button" disabled={isDone} onClick={() => answer.mutate({ allow: false })}>
          Deny
        </button>
        <button type="submit" className="button-main" disabled={isDone} aria-disabled={!isReady}>
          Allow
        </button>
      </div>
      {ignored && (
        <p role="status">
          Nothing was allowed: that may have been meant for another page. Move the pointer a little and choose
          Allow again.
        </p>
      )}
    </form>
  );
}

function Namespace({ namespace, onChange }: { namespace: string; onChange(namespace: string): void }) {
  const prefix = useDeferredValue(namespace);
  const request = { pageSize: SUGGESTED_MAX, prefix };
  const { data } = useQuery(memories.listNamespaces, request, {
    retry: false,
    placeholderData: keepPreviousData,
  });
  return (
    <div className="field">
      <label htmlFor="authorize-namespace">
        Only in namespace <span className="quiet">(optional)</span>
      </label>
      <input
        id="authorize-namespace"
        dir="auto"
        list="authorize-namespaces"
        autoComplete="off"
        spellCheck={false}
        placeholder="all namespaces"
        value={namespace}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id="authorize-namespaces">
        {data?.namespaces.map(({ namespace: name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}
