import { createClient } from "@connectrpc/connect";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { AccountService } from "../api";
import { ErrorNote } from "../errors";
import { transport } from "../session/client";
import { signIn } from "../session/session";

const client = createClient(AccountService, transport);

export function SignInForm() {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState("");
  // The key is tried before it is kept, so that a mistyped key is reported here and not on the next page.
  const attempt = useMutation({
    mutationFn: (candidate: string) =>
      client.getAccount({}, { headers: { authorization: `Bearer ${candidate}` } }),
    onSuccess: (_account, candidate) => signIn(candidate),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // People paste the whole header as well.
    const candidate = key.trim().replace(/^Bearer\s+/i, "");
    const fits = /^[\x21-\x7e]+$/.test(candidate);
    setProblem(fits ? "" : "A key has only Latin letters, digits and an underscore.");
    if (fits) attempt.mutate(candidate);
  };
  return (
    <form method="post" className="card stack" onSubmit={submit}>
      <h2>Sign in with a key</h2>
      <p className="quiet">The key stays in this tab until you close it.</p>
      <div className="field">
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="rcl_…"
          aria-invalid={problem !== ""}
          aria-describedby="key-problem"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <p id="key-problem" className="problem" aria-live="polite">
          {problem}
        </p>
        <p className="hint">You can use any key of the account.</p>
      </div>
      <ErrorNote error={attempt.error} />
      <button type="submit" disabled={attempt.isPending}>
        {attempt.isPending ? "Signing in…" : "Sign in"}
      </button>
    </form>
  );
}
