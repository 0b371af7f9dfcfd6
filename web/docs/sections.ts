import MiniSearch, { type SearchResult } from "minisearch";

/** Section of a page, as the build writes it. */
export interface Section {
  readonly id: number;
  /** Address of the section below `/docs/`. */
  readonly address: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
  readonly minor: boolean;
}

export interface Hit {
  readonly section: Section;
  /** Words of the section that match the query, in lower case. */
  readonly words: readonly string[];
}

const HITS_MAX = 12;
/** Weight of pages of background beside the guides. */
const MINOR = 0.2;
/** Sections that are read before the page may do something else. */
const CHUNK = 60;

/** Index of all sections. */
export interface Index {
  find(query: string): readonly Hit[];
}

export async function openIndex(sections: readonly Section[]): Promise<Index> {
  const index = new MiniSearch<Section>({ fields: ["title", "page", "text"] });
  await index.addAllAsync(sections, { chunkSize: CHUNK });
  const options = {
    boost: { title: 4, page: 2 },
    boostDocument: (id: number) => (sections[id]?.minor ? MINOR : 1),
    prefix: true,
    fuzzy: fuzziness,
    combineWith: "AND",
  } as const;
  const hitOf = ({ id, match }: SearchResult) => ({
    section: sections[id] as Section,
    words: Object.keys(match),
  });
  return { find: (query) => index.search(query, options).slice(0, HITS_MAX).map(hitOf) };
}

/** Long words may be mistyped; of short ones too many others are near. */
function fuzziness(word: string): number | false {
  return word.length > 5 ? 0.2 : false;
}
