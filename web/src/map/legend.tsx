import { counted } from "../format";
import type { Group } from "./groups";
import type { Picked } from "./picked";
import type { Region } from "./regions";

export interface LegendProps {
  readonly regions: readonly Region[];
  /** Keys of the metadata by which the map can be coloured. */
  readonly keys: readonly string[];
  readonly colourBy: string;
  readonly groups: readonly Group[];
  readonly picked: Picked | undefined;
  onColourBy(key: string): void;
  onPick(picked: Picked | undefined): void;
}

/** Lists the regions of the map and the colours of its points. Each stands out when it is pressed. */
export function Legend({ regions, keys, colourBy, groups, picked, onColourBy, onPick }: LegendProps) {
  if (regions.length === 0 && keys.length === 0) return null;
  const button = (each: Picked, swatch?: string) => (
    <li key={each.title}>
      <button
        type="button"
        className="button-small"
        aria-pressed={picked?.title === each.title}
        onClick={() => onPick(picked?.title === each.title ? undefined : each)}
      >
        {swatch && <span className={`swatch ${swatch}`} aria-hidden="true" />}
        <bdi className="clip">{each.title}</bdi>
        <span className="quiet">{each.ids.length}</span>
      </button>
    </li>
  );
  return (
    <section className="card stack" aria-label="Regions and colours">
      {regions.length > 0 && (
        <div className="field">
          <h2>Regions</h2>
          <p className="hint">{counted(regions.length, "region")}, named by their most telling words.</p>
          <ul className="legend">
            {regions.map(({ words, ids }) => button({ title: words.join(", "), ids }))}
          </ul>
        </div>
      )}
      {keys.length > 0 && (
        <div className="field">
          <label htmlFor="map-colour">Colour by</label>
          <select id="map-colour" value={colourBy} onChange={({ target }) => onColourBy(target.value)}>
            <option value="">one colour for all</option>
            {keys.map((key) => (
              <option key={key}>{key}</option>
            ))}
          </select>
          <ul className="legend">
            {groups.map(({ value, ids, colour }) =>
              button({ title: `${colourBy}: ${value}`, ids }, `swatch-${colour}`),
            )}
          </ul>
        </div>
      )}
    </section>
  );
}
