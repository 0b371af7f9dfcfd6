import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { ListMemoriesRequest_Order as Order } from "../../api";
import { parseMetadata } from "../../playground/metadata";
import type { Listing } from "./listing";

/** Value for the order of a search, which is none of a list. */
const BEST_FIRST = -1;

export interface ListOptionsProps {
  readonly listing: Listing;
  /** What else can be chosen. */
  readonly children: ReactNode;
  onChange(listing: Listing): void;
}

/** Chooses the memories that are shown and their order, in one row. */
export function ListOptions({ listing, children, onChange }: ListOptionsProps) {
  return (
    <div className="list-options">
      <QuestionBox question={listing.question} onChange={(question) => onChange({ ...listing, question })} />
      <FilterBox filter={listing.filter} onChange={(filter) => onChange({ ...listing, filter })} />
      <label htmlFor="list-order" className="unseen">
        Order
      </label>
      <select
        id="list-order"
        value={listing.question === "" ? listing.order : BEST_FIRST}
        disabled={listing.question !== ""}
        onChange={({ target }) => onChange({ ...listing, order: Number(target.value) as Order })}
      >
        {listing.question !== "" && <option value={BEST_FIRST}>Best first</option>}
        <option value={Order.NEWEST_FIRST}>Newest first</option>
        <option value={Order.OLDEST_FIRST}>Oldest first</option>
      </select>
      {children}
    </div>
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
        <label htmlFor="list-question" className="unseen">
          Search
        </label>
        <input
          id="list-question"
          type="search"
          dir="auto"
          placeholder="Search by meaning and words"
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
        <p id="question-hint" className={typed.trim() === question ? "unseen" : "hint"}>
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
      <label htmlFor="list-filter" className="unseen">
        Filter
      </label>
      <input
        id="list-filter"
        className="mono"
        placeholder='Filter: {"source": "chat"}'
        autoComplete="off"
        spellCheck={false}
        aria-invalid={typeof parsed === "string"}
        aria-describedby="filter-problem"
        value={json}
        onChange={({ target }) => setJson(target.value)}
      />
      {json.trim() !== filter && <button type="submit">Apply</button>}
      {filter !== "" && json.trim() === filter && (
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
