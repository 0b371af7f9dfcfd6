import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { accounts } from "../api";
import { counted } from "../format";
import { Icon } from "../parts/icon";
import { STORY } from "./story";

const POLL_MS = 2_000;
/** Number of calls that a sample makes: between them it may find some. */
const SAMPLE_CALLS = Object.keys(STORY).length + 1;
/** After this time the page stops polling and offers a button. */
const WAIT_MS_MAX = 10 * 60_000;

/** Waits for the account's first call and turns green when it arrives. */
export function FirstCall() {
  const [since, setSince] = useState(Date.now);
  const [tired, setTired] = useState(false);
  // By the client's default, it polls only while the page is visible.
  const { data } = useQuery(
    accounts.getAccount,
    {},
    {
      refetchInterval: ({ state }) => {
        const all = (state.data?.callsUsed ?? 0) >= SAMPLE_CALLS;
        return all || tired ? false : POLL_MS;
      },
    },
  );
  useEffect(() => {
    const timer = setTimeout(() => setTired(true), since + WAIT_MS_MAX - Date.now());
    return () => clearTimeout(timer);
  }, [since]);
  const again = () => {
    setTired(false);
    setSince(Date.now());
  };
  const came = (data?.callsUsed ?? 0) > 0;
  return (
    <div className="first-call" data-state={came ? "came" : tired ? "tired" : "waiting"} role="status">
      <span className="first-call-mark">{came && <Icon name="check" />}</span>
      {came && <p>It works: {counted(data?.callsUsed ?? 0, "call")} arrived.</p>}
      {!came && !tired && <p>Waiting for your first call…</p>}
      {!came && tired && (
        <p>
          No call has arrived yet.{" "}
          <button type="button" onClick={again}>
            Wait again
          </button>
        </p>
      )}
    </div>
  );
}
