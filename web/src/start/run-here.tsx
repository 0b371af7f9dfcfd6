import { ConnectError } from "@connectrpc/connect";
import { useMutation } from "@tanstack/react-query";
import { type RecallResponse, StoreRequest_OnConflict } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { whileBusy } from "../parts/busy";
import { Icon } from "../parts/icon";
import { Rank } from "../playground/rank";
import { memoryClient } from "../session/client";
import { refresh, refreshMemories } from "../session/refresh";
import { ANSWER, questionOf, STORY } from "./story";

export interface RunHereProps {
  readonly namespace: string;
  readonly stores: boolean;
}

/** Makes the calls of the samples from the portal, and shows what is found, best first. */
export function RunHere({ namespace, stores }: RunHereProps) {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => runStory({ namespace, stores }),
    onSuccess: () => {
      refresh("account", "usage");
      if (stores) refreshMemories();
    },
  });
  return (
    <div className="stack">
      <div className="actions">
        <button type="button" className="button-main" {...whileBusy(isPending)} onClick={() => mutate()}>
          <Icon name="start" /> {isPending ? "Running…" : "Run it here"}
        </button>
        <span className="hint">
          {stores
            ? `This uses ${counted(Object.keys(STORY).length + 1, "call")} of your plan, and one when it is run again.`
            : "This uses one call of the plan."}
        </span>
      </div>
      <ErrorNote error={error} />
      <div aria-live="polite" className="stack">
        {data && <Ranked data={data} stores={stores} />}
      </div>
    </div>
  );
}

/** Stores the story, if the key may, and recalls it. @throws ConnectError if a memory could not be stored. */
async function runStory({ namespace, stores }: RunHereProps): Promise<RecallResponse> {
  if (stores) {
    const memories = Object.entries(STORY).map(([externalId, text]) => {
      return { externalId, text, onConflict: StoreRequest_OnConflict.KEEP };
    });
    const { results } = await memoryClient.storeBatch({ namespace, memories });
    for (const { result } of results) {
      if (result.case === "error") throw new ConnectError(result.value.message);
    }
  }
  return memoryClient.recall({ namespace, query: questionOf(stores) });
}

function Ranked({ data: { results }, stores }: { data: RecallResponse; stores: boolean }) {
  const query = questionOf(stores);
  if (results.length === 0) return <p className="quiet">This namespace holds no memories.</p>;
  return (
    <>
      <p>
        <strong>{query}</strong>
      </p>
      <ol className="results">
        {results.map((result, index) => (
          <li key={result.id}>
            <p dir="auto">
              {result.text} {index === 0 && <span className="badge">best</span>}
            </p>
            {/* The right answer stands out by its rank, and is no strong match: the mark would say otherwise. */}
            <Rank result={result} strong={undefined} />
          </li>
        ))}
      </ol>
      {stores && results[0]?.text === ANSWER && (
        <p className="hint">
          The question and its answer have no word in common: it was found by its meaning.
        </p>
      )}
    </>
  );
}
