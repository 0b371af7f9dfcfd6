import { SERVICE_URL } from "../session/client";
import { RunHere } from "./run-here";
import { SampleTabs } from "./sample-tabs";
import { NAMESPACE, samplesOf } from "./samples";

export interface QuickStartProps {
  readonly apiKey: string;
  readonly namespace?: string;
  /** False for keys that may only recall. */
  readonly stores?: boolean;
}

/** Shows the first calls in some languages and the settings of an agent, with the key filled in. */
export function QuickStart({ apiKey, namespace = NAMESPACE, stores = true }: QuickStartProps) {
  const samples = samplesOf({ url: SERVICE_URL, key: apiKey, namespace, stores });
  return (
    <>
      {stores && (
        <p>
          These calls store four memories in <bdi className="mono breakable">{namespace}</bdi> and ask a
          question that has no word of its answer.
        </p>
      )}
      <SampleTabs label="Language" samples={samples} />
      <RunHere namespace={namespace} stores={stores} />
    </>
  );
}
