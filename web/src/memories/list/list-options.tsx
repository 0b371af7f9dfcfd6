import { type FormEvent, useEffect, useState } from "react";
import { ListMemoriesRequest_Order as Order } from "../../api";
import { parseMetadata } from "../../playground/metadata";
import type { Listing } from "./listing";

export interface ListOptionsProps {
  readonly listing: Listing;
  onChange(listing: Listing): void;
}

export function ListOptions({ listing, onChange }: ListOptionsProps) {
  return (
    <>
      <QuestionBox question={listing.question} onChange={(question) => onChange({ ...listing, question })} />
      <div className="list-options">
        <label htmlFor="list-order">Order</label>
        <select
          id="list-order"
          value={listing.order}
          disabled={listing.question !== ""}
          onChange={({ target }) => onChange({ ...listing, order: Number(target.value) as Order })}
        >
          <option value={Order.NEWEST_FIRST}>Newest first</option>
          <option value={Order.OLDEST_FIRST}>Oldest first</option>
        </select>
        <label>
          <input
            type="checkbox"
            checked={listing.includeSuperseded}
            onChange={({ target }) => onChange({ ...listing, includeSuperseded: target.checked })}
          />{" "}
          Superseded ones, too
        </label>
        <FilterBox filter={listing.filter} onChange={(filter) => onChange({ ...listing, filter })} />
      </div>
    </>
  );
}

interface QuestionBoxProps {
  readonly question: string;
  onChange(question: string): void;
}

/** Takes a question by which memories are recalled. */
function QuestionBox({ question, onChange }: QuestionBoxProps) {
  const [typed, setTyped] = useTyped(question);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange(typed.trim());
  };
  return (
    <search>
      <form method="post" className="filter-box" onSubmit={submit}>
        <label htmlFor="list-question">Search</label>
        <input
          id="list-question"
          type="search"
          dir="auto"
          placeholder="by meaning and words"
          autoComplete="off"
          aria-describedby="question-hint"
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            // An emptied field shows the list again.
            if (target.value === "") onChange("");
          }}
        />
        <button type="submit">Search</button>
        <p id="question-hint" className="hint">
          A search is a recall, and costs one call of the plan.
        </p>
      </form>
    </search>
  );
}

interface FilterBoxProps {
  readonly filter: string;
  onChange(filter: string): void;
}

/** Takes a filter as JSON when it is sent by Enter. */
function FilterBox({ filter, onChange }: FilterBoxProps) {
  const [json, setJson] = useTyped(filter);
  const parsed = parseMetadata(json);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof parsed !== "string") onChange(json.trim());
  };
  return (
    <form method="post" className="filter-box" onSubmit={submit}>
      <label htmlFor="list-filter">Filter</label>
      <input
        id="list-filter"
        className="mono"
        placeholder='{"source": "chat"}'
        autoComplete="off"
        spellCheck={false}
        aria-invalid={typeof parsed === "string"}
        aria-describedby="filter-problem"
        value={json}
        onChange={({ target }) => setJson(target.value)}
      />
      <button type="submit">Apply</button>
      {filter !== "" && (
        <button type="button" className="button-plain" onClick={() => onChange("")}>
          Clear
        </button>
      )}
      <p id="filter-problem" className="problem" aria-live="polite">
        {typeof parsed === "string" && parsed}
      </p>
    </form>
  );
}

/** Keeps a field's text, which follows the address when that changes by itself. */
function useTyped(value: string) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return [typed, setTyped] as const;
}
