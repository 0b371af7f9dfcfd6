/** Metric and labels that a PromQL expression asks for. */
export interface Asked {
  readonly metric: string;
  readonly labels: readonly { readonly name: string; readonly operator: string; readonly value: string }[];
}

/** Lists selectors with braces, and bare names that look like a metric's. */
export function selectorsIn(expression: string): Asked[] {
  const found: Asked[] = [];
  for (const [, metric = "", , matchers = ""] of expression.matchAll(
    /\b((?:recalld|rpc|process|nodejs)_\w+)(\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\})?/g,
  )) {
    const labels = [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)];
    found.push({
      metric,
      labels: labels.map(([, name = "", operator = "", value = ""]) => ({ name, operator, value })),
    });
  }
  // The text between the braces of one is no other metric.
  return found.filter(({ metric }) => !LABELS.test(metric));
}

const LABELS = /^rpc_(system_name|method|response_status_code)$/;

/** Lists labels that a result is grouped by. */
export function groupingsIn(expression: string): string[] {
  const lists = [...expression.matchAll(/\b(?:by|without|on)\s*\(([^)]*)\)/g)].map(([, list = ""]) => list);
  return lists.flatMap((list) => list.split(",").map((name) => name.trim()));
}
