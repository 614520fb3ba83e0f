// Data comes from the server, or, in a report that opens from disk, from the page.

import { unpack } from "./unpack";
import type { About, Checked, Entry, Failed, FailuresForm, Many, Memory, MemoryForm, Read, SearchForm, Searched, Simulation, StudyEntry, Trace, Variant } from "./contract";

export type {
  Answer,
  Variant,
  Collectives,
  CauseInfo,
  CollectiveRow,
  CollectiveSum,
  Critical,
  Entry,
  Flows,
  Grid,
  Info,
  Simulation,
  Packet,
  Packets,
  Pauses,
  PortRow,
  PortView,
  QPView,
  QueueConfig,
  StepLoss,
  StudyEntry,
  Ranks,
  TopologyLink,
  TopologyNode,
  Total,
} from "./contract";

let embedded: Record<string, unknown> | null = null;

/** load reads the run that a report carries, if this page is one. */
export async function load(): Promise<boolean> {
  const tag = document.getElementById("railyard-run");
  if (!tag) return false;
  const raw = Uint8Array.from(atob(tag.textContent ?? ""), (c) => c.charCodeAt(0));
  const text = await new Response(
    new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).text();
  embedded = JSON.parse(text);
  return true;
}

export const standalone = () => embedded !== null;

async function call<T>(path: string, init?: RequestInit): Promise<T> {
  let r: Response;
  try {
    r = await fetch(path, init);
  } catch {
    if (init?.signal?.aborted) throw new Error("cancelled");
    throw new Error("the server does not answer; is railyard serve still running?");
  }
  const body = await r.json().catch(() => ({ error: `the server answered ${r.status} without a reason` }));
  if (!r.ok) throw new Error(body.error ?? `the server answered ${r.status}`);
  return body as T;
}

const cache = new Map<string, Promise<unknown>>();

/** view asks for one view of a run. */
export function view<T>(run: string, what: string): Promise<T> {
  if (what === "info") return info(run) as Promise<T>;
  return stored(run, what);
}

const unpacked = new WeakMap<object, unknown>();

/** info asks for what every view of a run needs, and makes rows of its columns once. */
async function info(run: string): Promise<unknown> {
  const packed = await stored<object>(run, "info?packed");
  if (!unpacked.has(packed)) unpacked.set(packed, unpack(packed));
  return unpacked.get(packed);
}

function stored<T>(run: string, what: string): Promise<T> {
  if (embedded) {
    return what in embedded
      ? Promise.resolve(embedded[what] as T)
      : Promise.reject(new Error("a report on disk holds a selection only; railyard serve shows everything"));
  }
  const key = `${run} ${what}`;
  let p = cache.get(key) as Promise<T> | undefined;
  if (!p) {
    p = call<T>(`api/runs/${encodeURIComponent(run)}/${what}`);
    cache.set(key, p);
    p.catch(() => cache.delete(key));
    if (cache.size > 200) cache.delete(cache.keys().next().value as string);
  }
  return p;
}

const post = (body: unknown) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
export const runs = () => call<Entry[]>("api/runs");
export const studies = () => call<StudyEntry[]>("api/studies");
export const study = (name: string) => call<Many>(`api/studies/${encodeURIComponent(name)}`);
export const many = (names: string[]) => call<Many>(`api/many?runs=${encodeURIComponent(names.join(","))}`);
export const jobs = () => call<Simulation[]>("api/jobs");
export const about = () => call<About>("api/about");
export const schema = () => call<Record<string, unknown>>("api/schema");
export const check = (text: string, sets: string[]) => call<Checked>("api/check", post({ text, sets }));
export const start = (text: string, sets: string[], trace: Trace) =>
  call<Simulation>("api/jobs", post({ text, sets, trace }));
export const remove = (run: string) => {
  for (const key of [...cache.keys()]) if (key.startsWith(run + " ")) cache.delete(key);
  return call<unknown>(`api/runs/${encodeURIComponent(run)}`, { method: "DELETE" });
};
export const deleted = () => call<string[]>("api/deleted");
export const restore = (run: string) => call<unknown>(`api/runs/${encodeURIComponent(run)}/restore`, post({}));
export const startVariant = (of: string, sets: string[]) => call<Simulation>("api/jobs", post({ of, sets }));
export const startTrace = (of: string, trace: Trace) => call<Simulation>("api/jobs", post({ of, sets: [], trace }));
export const variants = (run: string) => call<Variant[]>(`api/runs/${encodeURIComponent(run)}/variants`);
/** Text is a file that was pasted or dropped. */
export interface Text {
  name: string;
  text: string;
}
export const texts = (list: Text[], scenario: string) => call<Read>("api/texts", post({ texts: list, text: scenario }));
export const planMemory = (layout: MemoryForm) => call<Memory>("api/plan/memory", post({ layout }));
export const planSearch = (wanted: SearchForm, text: string) => call<Searched>("api/plan/search", post({ wanted, text }));
export const planFailures = (failing: FailuresForm, text: string, signal: AbortSignal) =>
  call<Failed>("api/plan/failures", { ...post({ failing, text }), signal });
export const stop = (id: string) => call<unknown>(`api/jobs/${id}`, { method: "DELETE" });
