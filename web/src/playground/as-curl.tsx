import { Code } from "../code/code";
import { SERVICE_URL } from "../session/client";
import { SampleKeyNote, useSampleKey } from "../start/sample-key";
import { curlOf } from "../start/samples";

/** Shows the form's call as a curl command. */
export function AsCurl({ path, body }: { path: string; body: object }) {
  const key = useSampleKey();
  return (
    <details>
      <summary>The same with curl</summary>
      <SampleKeyNote />
      <Code text={curlOf({ url: SERVICE_URL, key }, path, body)} what="curl command" language="bash" />
    </details>
  );
}
