import { useState } from "react";
import type { MapPoint } from "../api";
import { ScrollRegion } from "../parts/scroll-region";

const PAGE = 25;

export interface PointTableProps {
  readonly points: readonly MapPoint[];
  readonly hits: ReadonlyMap<string, number>;
  onSelect(id: string): void;
}

/** Lists the map's points for keyboards and screen readers. A query's results come first. */
export function PointTable({ points, hits, onSelect }: PointTableProps) {
  const [page, setPage] = useState(0);
  const sorted = points.toSorted((a, b) => (hits.get(b.id) ?? -1) - (hits.get(a.id) ?? -1));
  const pages = Math.ceil(points.length / PAGE);
  const shown = sorted.slice(page * PAGE, (page + 1) * PAGE);
  return (
    <details className="card">
      <summary>The map as a table</summary>
      <ScrollRegion label="Points of the map">
        <table>
          <thead>
            <tr>
              <th scope="col">Memory</th>
              <th scope="col" className="number">
                x
              </th>
              <th scope="col" className="number">
                y
              </th>
              <th scope="col" className="number">
                Score
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ id, x, y }) => (
              <tr key={id}>
                <th scope="row">
                  <button type="button" className="button-link mono" onClick={() => onSelect(id)}>
                    {id}
                  </button>
                </th>
                <td className="number">{x.toFixed(3)}</td>
                <td className="number">{y.toFixed(3)}</td>
                <td className="number">{hits.get(id)?.toFixed(3) ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <div className="actions">
        <button
          type="button"
          className="button-small"
          disabled={page === 0}
          onClick={() => setPage(page - 1)}
        >
          Previous
        </button>
        <span className="quiet">
          Page {page + 1} of {pages}
        </span>
        <button
          type="button"
          className="button-small"
          disabled={page + 1 >= pages}
          onClick={() => setPage(page + 1)}
        >
          Next
        </button>
      </div>
    </details>
  );
}
