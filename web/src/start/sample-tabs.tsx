import { Code } from "../code/code";
import { Tabs } from "../parts/tabs";
import type { Sample } from "./samples";

/** Shows samples that do the same, a tab for each. */
export function SampleTabs({ label, samples }: { label: string; samples: readonly Sample[] }) {
  const tabs = samples.map(({ name, needs, code, language }) => ({
    name,
    content: (
      <>
        <p className="hint">{needs}</p>
        <Code text={code} what={`${name} sample`} language={language} />
      </>
    ),
  }));
  return <Tabs label={label} tabs={tabs} />;
}
