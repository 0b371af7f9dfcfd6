import { targetOf } from "./addresses.js";

export interface Group {
  readonly name: string;
  readonly pages: readonly Entry[];
}

export interface Entry {
  readonly title: string;
  readonly path: string;
}

const FIRST: Group = { name: "Start", pages: [{ title: "Introduction", path: "README.md" }] };

/** Reads the order of the pages from the end of README, where readers of the files find it, too. */
export function navigationOf(readme: string): readonly Group[] {
  const list = readme.split(/^## Read on$/m)[1] ?? "";
  const groups = list.split(/^(?:For )?(?=[\w ]+:$)/m).slice(1);
  return [FIRST, ...groups.map(groupOf)];
}

function groupOf(text: string): Group {
  const [name = "", ...lines] = text.split("\n");
  const links = lines.flatMap((line) =>
    line.startsWith("- ") ? [...(line.split("): ")[0] ?? "").matchAll(/\[([^\]]+)\]\(([^)]+)/g)] : [],
  );
  const pages = links.flatMap(([, title = "", href = ""]) => {
    const target = targetOf("README.md", href);
    return target ? [{ title: capital(title), path: target.path }] : [];
  });
  return { name: capital(name.replace(/:$/, "")), pages };
}

function capital(text: string): string {
  return text.startsWith("recalld") ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
