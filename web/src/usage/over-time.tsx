import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { accounts } from "../api";
import { ErrorNote } from "../errors";
import { count } from "../format";
import { Loading } from "../parts/page";
import { ScrollRegion } from "../parts/scroll-region";
import { Plot } from "./plot";
import { daySlots, HOURS_MAX, hourSlots, type Slot } from "./slots";

const DAY_MS = 86_400_000;
/** Spans by the days that are read; the first shows hours, which may lie on three days of UTC. */
const HOURLY = 3;
const SPANS = [
  { days: HOURLY, name: `${HOURS_MAX} hours` },
  { days: 7, name: "7 days" },
  { days: 30, name: "30 days" },
  { days: 90, name: "90 days" },
];

/** Shows usage over a span that is not much longer than the account is old until another is chosen. */
export function OverTime({ createdAt }: { createdAt: Timestamp | undefined }) {
  const ageDays = createdAt ? (Date.now() - timestampMs(createdAt)) / DAY_MS : 0;
  const [span, setSpan] = useState(ageDays < 2 ? HOURLY : ageDays < 7 ? 7 : 30);
  const { data, error } = useQuery(accounts.getUsage, { days: span });
  const days = data?.days ?? [];
  const slots = span === HOURLY ? hourSlots(days, createdAt) : daySlots(days);
  return (
    <section className="card stack" aria-labelledby="over-time">
      <div className="quota-head">
        <h2 id="over-time">{span === HOURLY ? "Hour by hour" : "Day by day"}</h2>
        <fieldset className="segments">
          <legend className="unseen">Time shown</legend>
          {SPANS.map(({ days, name }) => (
            <label key={name}>
              <input type="radio" name="span" checked={span === days} onChange={() => setSpan(days)} />
              {name}
            </label>
          ))}
        </fieldset>
      </div>
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && <Sums slots={slots} />}
      {data && slots.some(isUsed) && <Plot slots={slots} />}
      {data && <SlotTable slots={slots} unit={span === HOURLY ? "Hour" : "Day (UTC)"} />}
    </section>
  );
}

function Sums({ slots }: { slots: readonly Slot[] }) {
  const sum = (pick: (slot: Slot) => number) => slots.reduce((total, slot) => total + pick(slot), 0);
  const sums = [
    ["store", "stores", sum((slot) => slot.stores)],
    ["recall", "recalls", sum((slot) => slot.recalls)],
    ["token stored", "tokens stored", sum((slot) => slot.tokensStored)],
    ["token queried", "tokens queried", sum((slot) => slot.tokensQueried)],
  ] as const;
  return (
    <div className="figures">
      {sums.map(([one, many, figure]) => (
        <p key={many}>
          <strong className="figure">{count(figure)}</strong> <span>{figure === 1 ? one : many}</span>
        </p>
      ))}
    </div>
  );
}

function isUsed({ stores, recalls }: Slot): boolean {
  return stores + recalls > 0;
}

/** Shows the plot's exact figures as a table, also for screen readers. */
function SlotTable({ slots, unit }: { slots: readonly Slot[]; unit: string }) {
  const used = slots.filter(isUsed).reverse();
  return (
    <details>
      <summary>Show as a table</summary>
      {used.length === 0 && <p className="quiet">There were no calls in this time.</p>}
      {used.length > 0 && (
        <ScrollRegion label="Usage over time">
          <table>
            <caption className="unseen">
              Usage over time, newest first, without days and hours that have no calls
            </caption>
            <thead>
              <tr>
                <th scope="col">{unit}</th>
                <th scope="col">Stores</th>
                <th scope="col">Recalls</th>
                <th scope="col">Tokens stored</th>
                <th scope="col">Tokens queried</th>
              </tr>
            </thead>
            <tbody>
              {used.map((slot) => (
                <tr key={slot.key}>
                  <th scope="row">{slot.name}</th>
                  <td>{count(slot.stores)}</td>
                  <td>{count(slot.recalls)}</td>
                  <td>{count(slot.tokensStored)}</td>
                  <td>{count(slot.tokensQueried)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </details>
  );
}
