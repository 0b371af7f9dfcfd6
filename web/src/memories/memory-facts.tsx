import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useRef } from "react";
import type { Memory } from "../api";
import { CopyButton } from "../code/copy";
import { count, dateTime } from "../format";
import { linkTo } from "../route";

/** Shows all of a memory's fields. Stored content is shown as text, never as markup. */
export function MemoryFacts({ namespace, memory }: { namespace: string; memory: Memory }) {
  const id = useRef<HTMLElement>(null);
  const { metadata = {}, supersededBy } = memory;
  return (
    <>
      {supersededBy !== undefined && (
        <p className="note note-warn">
          <span>
            No recall finds this memory: <a href={linkTo("memories", namespace, supersededBy)}>another one</a>{" "}
            has superseded it.
          </span>
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus */}
      <p className="memory-text" dir="auto" tabIndex={0}>
        {memory.text}
      </p>
      <h3>Metadata</h3>
      {Object.keys(metadata).length === 0 ? (
        <p className="quiet">None.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus
        <pre className="json" tabIndex={0}>
          {JSON.stringify(metadata, null, 2)}
        </pre>
      )}
      <dl className="facts">
        <dt>Id</dt>
        <dd>
          <code ref={id} tabIndex={-1} className="breakable">
            {memory.id}
          </code>{" "}
          <CopyButton text={memory.id} what="id" className="button-small" source={id} />
        </dd>
        <dt>Tokens</dt>
        <dd>{count(memory.tokens)}</dd>
        <dt>Stored</dt>
        <dd>{dateTime(memory.createdAt)}</dd>
        <MoreFacts memory={memory} />
      </dl>
    </>
  );
}

/** Shows the facts that only some memories have. */
function MoreFacts({
  memory: { createdAt, updatedAt, eventTime, expireTime, externalId },
}: {
  memory: Memory;
}) {
  const isUpdated = updatedAt && createdAt && timestampMs(updatedAt) > timestampMs(createdAt);
  return (
    <>
      {isUpdated && (
        <>
          <dt>Updated</dt>
          <dd>{dateTime(updatedAt)}</dd>
        </>
      )}
      {eventTime && (
        <>
          <dt>Happened</dt>
          <dd>{dateTime(eventTime)}</dd>
        </>
      )}
      {expireTime && (
        <>
          <dt>Expires</dt>
          <dd>{dateTime(expireTime)}</dd>
        </>
      )}
      {externalId !== undefined && (
        <>
          <dt>External id</dt>
          <dd>
            <code className="breakable">{externalId}</code>
          </dd>
        </>
      )}
    </>
  );
}
