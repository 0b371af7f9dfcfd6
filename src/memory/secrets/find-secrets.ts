import { SECRET_RULES } from "./rules.js";

/** A secret in a string; places are UTF-16 units. */
export interface SecretSpan {
  readonly kind: string;
  readonly start: number;
  /** Behind its last unit. */
  readonly end: number;
}

/** Finds what looks like secrets, in order and without overlaps. The time is in proportion to the string. */
export function findSecrets(text: string): SecretSpan[] {
  const spans = SECRET_RULES.flatMap(({ kind, pattern, isSecret = () => true }) =>
    [...text.matchAll(pattern)].flatMap(({ index, 0: match, 1: secret = match }) => {
      const end = index + match.length;
      return isSecret(secret) ? [{ kind, start: end - secret.length, end }] : [];
    }),
  );
  return withoutOverlaps(spans.sort((a, b) => a.start - b.start));
}

/** Joins spans that overlap: the first one names the kind. */
function withoutOverlaps(spans: readonly SecretSpan[]): SecretSpan[] {
  const apart: SecretSpan[] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { ...last, end: span.end };
  }
  return apart;
}
