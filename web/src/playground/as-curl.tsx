import { Code } from "../parts/code";
import { SERVICE_URL } from "../session/client";
import { useSession } from "../session/session";
import { curlOf } from "../start/samples";

/** Shows the form's call as a curl command. */
export function AsCurl({ path, body }: { path: string; body: object }) {
  const { key = "" } = useSession();
  return (
    <details>
      <summary>The same with curl</summary>
      <Code text={curlOf({ url: SERVICE_URL, key }, path, body)} what="curl command" />
    </details>
  );
}
