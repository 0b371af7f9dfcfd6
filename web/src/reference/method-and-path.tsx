import type { Call } from "./calls";

export function MethodAndPath({ call: { method, path } }: { call: Call }) {
  return (
    <p className="method-and-path">
      <span className="method" data-method={method}>
        {method.toUpperCase()}
      </span>{" "}
      <span className="mono breakable">{path}</span>
    </p>
  );
}
