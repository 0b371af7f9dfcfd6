import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ComponentType, lazy, Suspense } from "react";
import { AwayNote } from "./errors";
import { Boundary } from "./parts/boundary";
import { Empty, Loading, Page } from "./parts/page";
import { isAuthorizing, linkTo, type Route, useRoute } from "./route";
import { queryClient, transport } from "./session/client";
import { useAway } from "./session/reach";
import { useSession } from "./session/session";
import { Shell } from "./shell";
import { Welcome } from "./welcome/page";

export type PageComponent = ComponentType<{ rest: readonly string[] }>;

const QuickStart = lazy(() => import("./start/page").then((module) => ({ default: module.QuickStartPage })));
const Authorize = lazy(() => import("./authorize/app").then((module) => ({ default: module.AuthorizeApp })));
const Reveal = lazy(() => import("./start/reveal").then((module) => ({ default: module.Reveal })));
const Usage = lazy(() => import("./usage/page").then(({ UsagePage }) => ({ default: UsagePage })));
const Calls = lazy(() => import("./calls/page").then(({ CallsPage }) => ({ default: CallsPage })));
const Keys = lazy(() => import("./keys/page").then(({ KeysPage }) => ({ default: KeysPage })));
const Account = lazy(() => import("./account/page").then(({ AccountPage }) => ({ default: AccountPage })));
const Memories = lazy(() => import("./memories/page").then((module) => ({ default: module.MemoriesPage })));
const Reference = lazy(() =>
  import("./reference/page").then((module) => ({ default: module.ReferencePage })),
);
const Playground = lazy(() =>
  import("./playground/page").then((module) => ({ default: module.PlaygroundPage })),
);

const PAGES: Readonly<Record<string, PageComponent>> = {
  start: QuickStart,
  playground: Playground,
  memories: Memories,
  usage: Usage,
  calls: Calls,
  keys: Keys,
  account: Account,
  reference: Reference,
  // Its name before there were guides.
  docs: Reference,
};

export function App() {
  return (
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queryClient}>
        {isAuthorizing() ? (
          <Boundary page="authorize">
            <Suspense fallback={<Loading />}>
              <Authorize welcome={Welcome} />
            </Suspense>
          </Boundary>
        ) : (
          <Shell>
            <Pages />
          </Shell>
        )}
      </QueryClientProvider>
    </TransportProvider>
  );
}

function Pages() {
  const route = useRoute();
  return (
    <Boundary page={route.page}>
      <Suspense fallback={<Loading />}>
        <Current route={route} />
      </Suspense>
    </Boundary>
  );
}

function Current({ route }: { route: Route }) {
  const { signedIn, key, unsaved } = useSession();
  const away = useAway();
  if (signedIn === undefined) return away ? <AwayNote /> : <Loading />;
  const isOpen = signedIn || PAGES[route.page] === Reference;
  const Found = route.page === "" ? Usage : (PAGES[route.page] ?? NotFound);
  return (
    <>
      {isOpen ? <Found rest={route.rest} /> : <Welcome />}
      {key !== undefined && unsaved && <Reveal apiKey={key} />}
    </>
  );
}

function NotFound() {
  return (
    <Page title="There is no such page">
      <Empty title="The address names no page of the portal">
        <p>
          Go to <a href={linkTo("usage")}>your usage</a> or <a href={linkTo("memories")}>your memories</a>.
        </p>
      </Empty>
    </Page>
  );
}
