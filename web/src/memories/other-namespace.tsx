import { Empty, Page } from "../parts/page";
import { linkTo } from "../route";

export interface OtherNamespaceProps {
  readonly namespace: string;
  /** The only namespace that the key may use. */
  readonly only: string;
}

/** Page of a namespace that the key in use may not use. */
export function OtherNamespace({ namespace, only }: OtherNamespaceProps) {
  return (
    <Page title={namespace}>
      <Empty title="Your key is for another namespace">
        <p>
          It may only use{" "}
          <a className="clip" href={linkTo("memories", only)}>
            <bdi>{only}</bdi>
          </a>
          . To see this one, sign in with a key for it, or with one for all namespaces.
        </p>
      </Empty>
    </Page>
  );
}
