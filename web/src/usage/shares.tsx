import { useQuery } from "@connectrpc/connect-query";
import { accounts, type KeyUsage, type NamespaceUsage } from "../api";
import { useKeyNames } from "../calls/key-names";
import { count, dateTime } from "../format";
import { ScrollRegion } from "../parts/scroll-region";
import { linkTo } from "../route";

const FIGURES = ["Stores", "Recalls", "Tokens stored", "Tokens queried"];

type Used = Pick<KeyUsage, "stores" | "recalls" | "tokensStored" | "tokensQueried">;

interface Share {
  readonly name: string;
  /** Page about it, if there is one. */
  readonly href?: string;
  readonly used: Used;
}

/** Shows which keys and which namespaces use the plan. */
export function Shares() {
  const { nameOf } = useKeyNames();
  const { data } = useQuery(accounts.getUsage, { days: 1 });
  if (!data) return null;
  const { keys, namespaces, since } = data;
  return (
    <section className="card stack" aria-labelledby="shares">
      <h2 id="shares">By key and namespace</h2>
      {keys.length === 0 && <p className="quiet">There were no calls since {dateTime(since)}.</p>}
      {keys.length > 0 && (
        <>
          <ShareTable title="Key" shares={keys.map((each) => shareOfKey(each, nameOf))} />
          <ShareTable title="Namespace" shares={namespaces.map(shareOfNamespace)} />
        </>
      )}
      <p className="hint">
        Counted over the <a href={linkTo("calls")}>calls</a> that are kept, since {dateTime(since)}. Those
        that this portal makes are not counted.
      </p>
    </section>
  );
}

function shareOfKey({ keyId, ...used }: KeyUsage, nameOf: (keyId: string) => string): Share {
  return { name: keyId === "" ? "all others, and keys that are gone" : nameOf(keyId), used };
}

function shareOfNamespace({ namespace, ...used }: NamespaceUsage): Share {
  if (namespace === "") return { name: "all others", used };
  return { name: namespace, href: linkTo("memories", namespace), used };
}

function ShareTable({ title, shares }: { title: string; shares: readonly Share[] }) {
  return (
    <ScrollRegion label={`Usage by ${title.toLowerCase()}`}>
      <table className="cards shares">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {FIGURES.map((name) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shares.map(({ name, href, used }) => (
            <tr key={href ?? name}>
              <th scope="row" className="cut" title={name}>
                {href === undefined ? (
                  <bdi>{name}</bdi>
                ) : (
                  <a href={href}>
                    <bdi>{name}</bdi>
                  </a>
                )}
              </th>
              {[used.stores, used.recalls, used.tokensStored, used.tokensQueried].map((figure, i) => (
                <td key={FIGURES[i]} data-label={FIGURES[i]} className="number">
                  {count(figure)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
