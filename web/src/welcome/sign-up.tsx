import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { accounts } from "../api";
import { ErrorNote } from "../errors";
import { whileBusy } from "../parts/busy";
import { go } from "../route";
import { signInNew } from "../session/sign-in";

export function SignUpForm() {
  const [email, setEmail] = useState("");
  const signUp = useMutation(accounts.signUp, {
    onSuccess: async ({ apiKey }) => {
      go("start");
      await signInNew(apiKey);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate({ email: email.trim() });
  };
  return (
    // Until the script handles the form, the method POST keeps its fields out of the address.
    <form method="post" className="card stack" onSubmit={submit}>
      <h2>Get an API key</h2>
      <p className="quiet">It is free, needs no card and works at once.</p>
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
          Only you can see it. We never send anything to it.
        </p>
      </div>
      <ErrorNote error={signUp.error} />
      <button type="submit" className="button-main" {...whileBusy(signUp.isPending)}>
        {signUp.isPending ? "Creating your key…" : "Create my key"}
      </button>
    </form>
  );
}
