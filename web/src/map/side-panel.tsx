import { useQuery } from "@connectrpc/connect-query";
import { useEffect, useRef, useState } from "react";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { DeleteMemory } from "../memories/delete-memory";
import { MemoryFacts } from "../memories/memory-facts";
import { Icon } from "../parts/icon";
import { Loading } from "../parts/page";
import { useRights } from "../session/rights";

export interface SidePanelProps {
  readonly namespace: string;
  readonly id: string;
  onDeleted(): void;
  onClose(): void;
}

/** Shows the selected memory beside the map, so that it does not cover the map. */
export function SidePanel({ namespace, id, onDeleted, onClose }: SidePanelProps) {
  const [deleting, setDeleting] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const { data, error } = useQuery(memories.getMemory, { namespace, id });
  const { writes } = useRights();
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="card stack" aria-label="Selected memory">
      <div className="quota-head">
        <h2 ref={heading} tabIndex={-1}>
          Memory
        </h2>
        <button type="button" className="button-plain button-icon" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data?.memory && <MemoryFacts namespace={namespace} memory={data.memory} />}
      {writes && data?.memory && (
        <div className="actions">
          <button type="button" className="button-danger-quiet" onClick={() => setDeleting(true)}>
            <Icon name="trash" /> Delete
          </button>
        </div>
      )}
      {deleting && (
        <DeleteMemory
          namespace={namespace}
          id={id}
          onDeleted={onDeleted}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  );
}
