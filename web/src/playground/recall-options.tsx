import type { JsonObject } from "@bufbuild/protobuf";
import { RecallRequest_Mode as Mode } from "../api";
import { OptionalFields } from "../parts/optional-fields";
import { NumberField } from "./more-fields";

const MODES = [
  {
    mode: Mode.HYBRID,
    name: "HYBRID",
    means: "Meaning and words: names, numbers and codes are found that the model does not know.",
  },
  {
    mode: Mode.COSINE,
    name: "COSINE",
    means: "Meaning alone: results are in the order of their scores.",
  },
] as const;

export interface ModeChoiceProps {
  readonly mode: Mode;
  onChange(mode: Mode): void;
}

/** Chooses what results are ordered by. */
export function ModeChoice({ mode, onChange }: ModeChoiceProps) {
  return (
    <fieldset className="mode">
      <legend>Order by</legend>
      <div className="segments">
        {MODES.map(({ mode: each, name }) => (
          <label key={name}>
            <input
              type="radio"
              name="mode"
              aria-describedby="mode-means"
              checked={each === mode}
              onChange={() => onChange(each)}
            />
            {name}
          </label>
        ))}
      </div>
      <p id="mode-means" className="hint">
        {MODES.find((each) => each.mode === mode)?.means}
      </p>
    </fieldset>
  );
}

/** What limits the results, as it was typed. */
export interface Limits {
  readonly filter: string;
  readonly minScore: string;
  readonly minFit: string;
}

export const NO_LIMITS: Limits = { filter: "", minScore: "", minFit: "" };

export interface LimitFieldsProps {
  readonly limits: Limits;
  readonly mode: Mode;
  /** The filter as it is read: undefined for none, a sentence if it cannot be. */
  readonly filter: JsonObject | string | undefined;
  onChange(limits: Limits): void;
}

/** Fields for a filter and for the lowest score and fit of a result. */
export function LimitFields({ limits, mode, filter, onChange }: LimitFieldsProps) {
  const isWrong = typeof filter === "string";
  return (
    <OptionalFields summary="Filter and floors">
      <div className="stack">
        <div className="field">
          <label htmlFor="recall-filter">Filter by metadata</label>
          <input
            ref={(field) => field?.setCustomValidity(isWrong ? filter : "")}
            id="recall-filter"
            className="mono"
            placeholder='{"source": "chat"}'
            autoComplete="off"
            spellCheck={false}
            aria-invalid={isWrong}
            aria-describedby="recall-filter-problem"
            value={limits.filter}
            onChange={({ target }) => onChange({ ...limits, filter: target.value })}
          />
          <p id="recall-filter-problem" className="problem" aria-live="polite">
            {isWrong && filter}
          </p>
        </div>
        <div className="floors">
          <NumberField
            label="Lowest score, 0 to 1"
            min={0}
            max={1}
            value={limits.minScore}
            onChange={(minScore) => onChange({ ...limits, minScore })}
          />
          {mode === Mode.HYBRID && (
            <NumberField
              label="Lowest fit, 0 to 1.5"
              min={0}
              max={1.5}
              value={limits.minFit}
              onChange={(minFit) => onChange({ ...limits, minFit })}
            />
          )}
        </div>
        {mode === Mode.HYBRID && (
          <p className="hint">
            The fit is the score and half the share of the question’s words. 0.4 leaves out much of what has
            nothing to do with the question.
          </p>
        )}
      </div>
    </OptionalFields>
  );
}
