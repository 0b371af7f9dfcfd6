import type { MapPoint } from "../api";
import type { Contents } from "./contents";
import type { Point } from "./view";

const REGIONS_MAX = 8;
/** Number of points that one region is worth; it grows with their number. */
const POINTS_EACH = 8;
const ROUNDS = 20;
const WORDS_MAX = 3;
/** A word that tells of a region is in so many of its texts at least. */
const TEXTS_LEAST = 2;

/** Part of the map, with the words that tell it from the others. */
export interface Region extends Point {
  readonly words: readonly string[];
  readonly ids: readonly string[];
}

/**
 * Divides the map into a few regions (k-means, always the same for the same points) and names each by the words
 * that are more frequent in its texts than in all. A region without such a word is left out.
 */
export function regionsOf(points: readonly MapPoint[], contents: Contents): Region[] {
  const many = Math.min(REGIONS_MAX, Math.floor(Math.sqrt(points.length / POINTS_EACH)));
  if (many < 2 || contents.size === 0) return [];
  const overall = frequencies(
    points.map(({ id }) => id),
    contents,
  );
  return divided(points, many)
    .map((members) => {
      const ids = members.map(({ id }) => id);
      return { ...middleOf(members), ids, words: tellingWords(frequencies(ids, contents), overall) };
    })
    .filter(({ words }) => words.length > 0);
}

function divided(points: readonly MapPoint[], many: number): MapPoint[][] {
  let middles = spread(points, many);
  let groups: MapPoint[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    groups = middles.map(() => []);
    for (const point of points) groups[nearestOf(middles, point)]?.push(point);
    groups = groups.filter(({ length }) => length > 0);
    middles = groups.map(middleOf);
  }
  return groups;
}

/** Chooses points far from each other: the first is the one farthest from the middle of all. */
function spread(points: readonly MapPoint[], many: number): Point[] {
  const middle = middleOf(points);
  let distances = points.map((point) => squared(point, middle));
  const chosen: MapPoint[] = [];
  while (chosen.length < many) {
    const farthest = points[distances.indexOf(Math.max(...distances))] as MapPoint;
    chosen.push(farthest);
    distances = points.map((point) => Math.min(...chosen.map((each) => squared(point, each))));
  }
  return chosen;
}

function nearestOf(middles: readonly Point[], point: Point): number {
  const distances = middles.map((middle) => squared(point, middle));
  return distances.indexOf(Math.min(...distances));
}

function middleOf(points: readonly Point[]): Point {
  const mean = (axis: "x" | "y") => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  return { x: mean("x"), y: mean("y") };
}

function squared(a: Point, b: Point): number {
  return (a.x - b.x) ** 2 + (a.y - b.y) ** 2;
}

/** Number of texts that were read, and how many of them have each word. */
interface Frequencies {
  readonly texts: number;
  readonly byWord: ReadonlyMap<string, number>;
}

function frequencies(ids: readonly string[], contents: Contents): Frequencies {
  const read = ids.map((id) => contents.get(id)).filter((content) => content !== undefined);
  const byWord = new Map<string, number>();
  for (const { words } of read) for (const word of words) byWord.set(word, (byWord.get(word) ?? 0) + 1);
  return { texts: read.length, byWord };
}

/** Orders words by their share of the region's texts, and by how far it is above their share of all texts. */
function tellingWords(inside: Frequencies, overall: Frequencies): string[] {
  const weight = ([word, many]: readonly [string, number]) => {
    const share = many / inside.texts;
    return share * Math.log((share * overall.texts) / (overall.byWord.get(word) ?? 1));
  };
  return [...inside.byWord]
    .filter(([, many]) => many >= TEXTS_LEAST)
    .map((entry) => ({ word: entry[0], weight: weight(entry) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS_MAX)
    .map(({ word }) => word);
}
