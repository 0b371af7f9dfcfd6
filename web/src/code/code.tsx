import { createElement, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { CopyButton } from "./copy";
import type { Language } from "./language";

export interface CodeProps {
  readonly text: string;
  /** Name of the code, in the label of the button that copies it. */
  readonly what: string;
  readonly language: Language;
}

/** Shows code in colours, with a button that copies it. */
export function Code({ text, what, language }: CodeProps) {
  const source = useRef<HTMLPreElement>(null);
  const coloured = useColoured(text, language);
  return (
    <figure className="code">
      <CopyButton text={text} what={what} className="button-small" source={source} />
      {/* It scrolls sideways, so keyboards must be able to reach it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus */}
      <pre ref={source} tabIndex={0}>
        {createElement("code", null, ...coloured)}
      </pre>
    </figure>
  );
}

/** Shows the text as it is until its colours are loaded, and for good if they cannot be. */
function useColoured(text: string, language: Language): readonly ReactNode[] {
  const [loaded, setLoaded] = useState<typeof import("./highlight")>();
  useEffect(() => {
    import("./highlight").then(setLoaded, () => undefined);
  }, []);
  return useMemo(() => {
    const tokens = loaded?.highlight(text, language) ?? [{ text, className: undefined }];
    // Keys would say nothing: tokens never move.
    return tokens.map(({ text, className }) =>
      className ? createElement("span", { className }, text) : text,
    );
  }, [loaded, text, language]);
}
