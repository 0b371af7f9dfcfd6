import type { ComponentType, ReactNode } from "react";
import { AwayNote } from "../errors";
import { Icon, Logo } from "../parts/icon";
import { Loading } from "../parts/page";
import { useAway } from "../session/reach";
import { useSession } from "../session/session";
import { SignOutButton, ThemeButton } from "../shell";
import { Reveal } from "../start/reveal";
import { AuthorizePage } from "./page";

interface AuthorizeAppProps {
  /** Page by which one signs in. It is given, because importing it here would split what the portal loads first. */
  readonly welcome: ComponentType<{ children?: ReactNode }>;
}

/** The portal at the address where applications ask for keys. It leads nowhere else. */
export function AuthorizeApp({ welcome }: AuthorizeAppProps) {
  const { signedIn, key, unsaved } = useSession();
  return (
    <div className="shell" data-signed-in={false}>
      <header className="bar">
        <span className="brand">
          <Logo /> recalld
        </span>
        <div className="bar-end">
          <ThemeButton />
          {signedIn && <SignOutButton />}
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Content signedIn={signedIn} welcome={welcome} />
        {key !== undefined && unsaved && <Reveal apiKey={key} />}
      </main>
    </div>
  );
}

/** Asks who is signed in, and signs in all others first. */
function Content({ signedIn, welcome: Welcome }: AuthorizeAppProps & { signedIn: boolean | undefined }) {
  const away = useAway();
  if (signedIn === undefined) return away ? <AwayNote /> : <Loading />;
  if (signedIn) return <AuthorizePage />;
  return (
    <Welcome>
      <p className="note note-calm">
        <Icon name="keys" />
        <span>
          An application asks for a key to your memories. Sign in, and you will be asked whether you allow it.
        </span>
      </p>
    </Welcome>
  );
}
