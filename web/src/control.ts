// What congestion control did, in figures and words.
import type { Control, Summary } from "./contract";
import * as f from "./format";

/** cuts is how often a service's congestion control allowed less than before. */
export function cuts(c: Control): number {
  return c.counters?.find((k) => k.name === "cuts")?.count ?? 0;
}

/** controls are those of a run that could act; a run of an older version tells of none. */
export function controls(s: Summary): Control[] {
  return (s.cc ?? []).filter((c) => c.algorithm !== "none" && c.queue_pairs > 0);
}

/** acted says what it did. */
export function acted(c: Control): string {
  const n = cuts(c);
  if (n === 0) return `${c.title} never slowed a sender down`;
  return `${c.title}: ${f.plural(n, "rate reduction")} on ${f.count(c.queue_pairs_cut)} of ${f.count(c.queue_pairs)} queue pairs`;
}
