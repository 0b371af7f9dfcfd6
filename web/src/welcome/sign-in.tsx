import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ErrorNote } from "../errors";
import { whileBusy } from "../parts/busy";
import { signIn } from "../session/sign-in";

export function SignInForm() {
  const [key, setKey] = useState("");
  const [stay, setStay] = useState(false);
  const [problem, setProblem] = useState("");
  const attempt = useMutation({ mutationFn: (candidate: string) => signIn(candidate, { stay }) });
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
      <p className="quiet">The browser does not keep the key, and you can sign it out from anywhere.</p>
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
      <label className="check">
        <input
          type="checkbox"
          checked={stay}
          aria-describedby="stay-hint"
          onChange={(event) => setStay(event.target.checked)}
        />
        Stay signed in on this device
      </label>
      <p id="stay-hint" className="hint">
        {stay
          ? "You stay signed in for 30 days."
          : "You are signed out when the browser is closed, or after 12 hours."}
      </p>
      <ErrorNote error={attempt.error} />
      <button type="submit" {...whileBusy(attempt.isPending)}>
        {attempt.isPending ? "Signing in…" : "Sign in"}
      </button>
    </form>
  );
}
