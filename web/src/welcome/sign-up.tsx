import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { accounts } from "../api";
import { ErrorNote } from "../errors";
import { go } from "../route";
import { signIn } from "../session/session";

export function SignUpForm() {
  const [email, setEmail] = useState("");
  const signUp = useMutation(accounts.signUp, {
    onSuccess: ({ apiKey }) => {
      go("start");
      signIn(apiKey, { unsaved: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate({ email: email.trim() });
  };
  return (
    // A form that the script has not yet taken over must not put its fields into the address: post.
    <form method="post" className="card stack" onSubmit={submit}>
      <h2>Get an API key</h2>
      <p className="quiet">Free, no card. It works at once.</p>
      <div className="field">
        <label htmlFor="email">
          Email <span className="quiet">(optional)</span>
        </label>
        <input
          id="email"
          type="email"
          maxLength={254}
          autoComplete="email"
          placeholder="you@example.com"
          aria-describedby="email-hint"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <p id="email-hint" className="hint">
          Shown to you only. Nothing is ever sent to it.
        </p>
      </div>
      <ErrorNote error={signUp.error} />
      <button type="submit" className="button-main" disabled={signUp.isPending}>
        {signUp.isPending ? "Making your key…" : "Create my key"}
      </button>
    </form>
  );
}
