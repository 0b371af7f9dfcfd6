import type { RecentCall } from "../api";
import { ago, exactTime } from "../format";
import { ScrollRegion } from "../parts/scroll-region";
import { methodOf } from "./filter";

/** Names of protocols, as people write them. */
const PROTOCOLS: Readonly<Record<string, string>> = {
  connect: "Connect",
  grpc: "gRPC",
  "grpc-web": "gRPC-Web",
  json: "HTTP",
  mcp: "MCP",
};

export interface CallTableProps {
  readonly calls: readonly RecentCall[];
  /** Names a key by its id. */
  nameOf(keyId: string): string;
}

export function CallTable({ calls, nameOf }: CallTableProps) {
  return (
    <section className="card card-flush">
      <ScrollRegion label="Calls">
        <table className="cards calls">
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Outcome</th>
              <th scope="col">Time</th>
              <th scope="col" className="number">
                Took
              </th>
              <th scope="col">Key and request id</th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: calls of one moment may have one request id
              <Row key={index} call={call} nameOf={nameOf} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}

function Row({ call, nameOf }: { call: RecentCall } & Pick<CallTableProps, "nameOf">) {
  const { protocol, namespace, code, message, startTime, durationMs, keyId, requestId } = call;
  return (
    <tr>
      <th scope="row">
        {methodOf(call)}
        <div className="hint call-way">
          {PROTOCOLS[protocol] ?? protocol}
          {namespace !== "" && (
            <>
              {" · "}
              <bdi>{namespace}</bdi>
            </>
          )}
        </div>
      </th>
      <td data-label="Outcome">
        <div className="outcome">
          <span className={code === "ok" ? "badge badge-good" : "badge badge-warn"}>{code}</span>
          {message !== "" && <p className="hint">{message}</p>}
        </div>
      </td>
      <td data-label="Time" title={ago(startTime)} className="whole">
        {exactTime(startTime)}
      </td>
      <td data-label="Took" className="number whole">
        {durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)}
        {"\u00a0ms"}
      </td>
      <td data-label="Key" className="call-ids">
        <bdi className="cut" title={nameOf(keyId)}>
          {nameOf(keyId)}
        </bdi>
        <code className="cut" title={requestId}>
          {requestId}
        </code>
      </td>
    </tr>
  );
}
