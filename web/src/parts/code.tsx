import { useRef } from "react";
import { CopyButton } from "./copy";

/** Shows code with a button that copies it. */
export function Code({ text, what }: { text: string; what: string }) {
  const source = useRef<HTMLPreElement>(null);
  return (
    <figure className="code">
      <CopyButton text={text} what={what} className="button-small" source={source} />
      {/* It scrolls sideways, so keyboards must be able to reach it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus */}
      <pre ref={source} tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
