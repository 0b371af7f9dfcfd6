import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { accounts, type DayUsage } from "../api";
import { ErrorNote } from "../errors";
import { count, monthAndDay } from "../format";
import { Loading } from "../parts/page";
import { ScrollRegion } from "../parts/scroll-region";
import { DayPlot } from "./day-plot";

const SPANS = [7, 30, 90];
const DAY_MS = 86_400_000;

/** Shows usage by day, over a span that is not much longer than the account is old until another is chosen. */
export function Daily({ createdAt }: { createdAt: Timestamp | undefined }) {
  const ageDays = createdAt ? (Date.now() - timestampMs(createdAt)) / DAY_MS : 0;
  const [span, setSpan] = useState(ageDays < 7 ? 7 : 30);
  const { data, error } = useQuery(accounts.getUsage, { days: span });
  const days = data?.days ?? [];
  return (
    <section className="card stack" aria-labelledby="daily">
      <div className="quota-head">
        <h2 id="daily">Day by day</h2>
        <fieldset className="segments">
          <legend className="unseen">Days shown</legend>
          {SPANS.map((days) => (
            <label key={days}>
              <input type="radio" name="span" checked={span === days} onChange={() => setSpan(days)} />
              {days} days
            </label>
          ))}
        </fieldset>
      </div>
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && <Sums days={days} />}
      {data && <Plotted days={days} />}
      {data && <DayTable days={days} />}
    </section>
  );
}

function Sums({ days }: { days: readonly DayUsage[] }) {
  const sum = (pick: (day: DayUsage) => number) => days.reduce((total, day) => total + pick(day), 0);
  const sums = [
    ["stores", sum((day) => day.stores)],
    ["recalls", sum((day) => day.recalls)],
    ["tokens stored", sum((day) => day.tokensStored)],
    ["tokens queried", sum((day) => day.tokensQueried)],
  ] as const;
  return (
    <div className="figures">
      {sums.map(([name, figure]) => (
        <p key={name}>
          <strong className="figure">{count(figure)}</strong> <span>{name}</span>
        </p>
      ))}
    </div>
  );
}

/** Plots the days. One day alone is no plot: its sums say all. */
function Plotted({ days }: { days: readonly DayUsage[] }) {
  const [first, second] = days.filter(isUsed);
  if (second) return <DayPlot days={days} />;
  if (!first) return null;
  return (
    <p className="hint">
      All of them on {monthAndDay(first.date)}. From the second day with calls on, a chart shows each day.
    </p>
  );
}

function isUsed({ stores, recalls }: DayUsage): boolean {
  return stores + recalls > 0;
}

/** Shows the plot's exact figures as a table, also for screen readers. */
function DayTable({ days }: { days: readonly DayUsage[] }) {
  const used = days.filter(isUsed).reverse();
  return (
    <details>
      <summary>Show as a table</summary>
      {used.length === 0 && <p className="quiet">There were no calls in these days.</p>}
      {used.length > 0 && (
        <ScrollRegion label="Usage by day">
          <table>
            <caption className="unseen">Usage by day, newest first, without days that have no calls</caption>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                <th scope="col">Stores</th>
                <th scope="col">Recalls</th>
                <th scope="col">Tokens stored</th>
                <th scope="col">Tokens queried</th>
              </tr>
            </thead>
            <tbody>
              {used.map((day) => (
                <tr key={day.date}>
                  <th scope="row">{day.date}</th>
                  <td>{count(day.stores)}</td>
                  <td>{count(day.recalls)}</td>
                  <td>{count(day.tokensStored)}</td>
                  <td>{count(day.tokensQueried)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </details>
  );
}
