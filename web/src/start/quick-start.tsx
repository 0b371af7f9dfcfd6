import { Code } from "../parts/code";
import { Tabs } from "../parts/tabs";
import { SERVICE_URL } from "../session/client";
import { samplesOf } from "./samples";

/** Shows the first two calls in four languages, with the key filled in. */
export function QuickStart({ apiKey }: { apiKey: string }) {
  const samples = samplesOf({ url: SERVICE_URL, key: apiKey, namespace: "quickstart" });
  const tabs = samples.map(({ name, needs, code }) => ({
    name,
    content: (
      <>
        <p className="hint">{needs}</p>
        <Code text={code} what={`${name} sample`} />
      </>
    ),
  }));
  return <Tabs label="Language" tabs={tabs} />;
}
