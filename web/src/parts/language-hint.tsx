import { isRead, languagesOf, useModel } from "../session/model";

/** Warns of a text that the model cannot read well. */
export function LanguageHint({ text }: { text: string }) {
  const model = useModel();
  if (!model || isRead(text, model)) return null;
  return (
    <p className="hint" role="status">
      The model reads {languagesOf(model)}. It cannot tell well what this means; words are compared in any
      language.
    </p>
  );
}
