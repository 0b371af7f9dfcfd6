import type { ReactNode } from "react";
import { Icon } from "../parts/icon";
import { Page } from "../parts/page";
import { useSession } from "../session/session";
import { ANSWER, questionOf } from "../start/story";
import { SignInForm } from "./sign-in";
import { SignUpForm } from "./sign-up";

/** First page of a visitor who is not signed in, with a note on why to sign in now, if there is one. */
export function Welcome({ children }: { children?: ReactNode }) {
  const { notice } = useSession();
  return (
    <div className="welcome">
      <Page
        title="Long-term memory for AI agents"
        intro="Store short texts. Ask for them later in plain words, and get those with a similar meaning."
      >
        {notice && (
          <div className="note note-warn" role="alert">
            <Icon name="alert" />
            <div>
              <strong>{notice.title}</strong>
              <p>{notice.text}</p>
            </div>
          </div>
        )}
        {children}
        <div className="welcome-forms">
          <SignUpForm />
          <SignInForm />
        </div>
        <Promises />
      </Page>
    </div>
  );
}

function Promises() {
  return (
    <ul className="promises">
      <li>
        <strong>Found by meaning.</strong> “{questionOf(true)}” finds “{ANSWER}”
      </li>
      <li>
        <strong>Private.</strong> Accounts never see each other, and namespaces keep users apart.
      </li>
      <li>
        <strong>Nothing leaves this server.</strong> The model runs here, and no text goes to anyone else.
      </li>
    </ul>
  );
}
