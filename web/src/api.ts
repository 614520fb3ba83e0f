// Data comes from the server, or, in a report that opens from disk, from the page.

export interface Summary {
  name: string; complete: boolean; step_time_ps: number; compute_ps: number; bubble_ps: number; mfu?: number; gpus: number; lb: string; seed: number; congestion_control?: string;
  exposed_tp_ps: number; exposed_pp_ps: number; exposed_dp_ps: number; exposed_cp_ps: number; exposed_ep_ps: number; exposed_other_ps: number;
  parameters?: number; tokens?: number; packets: number; packet_hops: number; network_bytes: number; nvlink_bytes: number; ecn_marks: number; cnps: number;
  pfc_pauses: number; pfc_pause_ps: number; queue_peak_bytes: number; drops: number; retransmissions: number; out_of_order: number; naks: number; timeouts: number;
  flow_completion_ps: { count: number; mean: number; p50: number; p99: number; max: number };
  collectives: { name: string; kind: string; algorithm?: string; count: number; bytes: number; ranks: number; time_ps: number; busbw_bytes_per_second: number; bound_bytes_per_second: number; bound_by: string }[] | null;
  slowest_flow?: { from: string; to: string; bytes: number; time_ps: number; ideal_ps: number; queue?: string; why: string };
  links: { max_utilisation: number; mean_utilisation: number };
}
export interface Node { name: string; role: string; tier: number; config: number }
export interface Link { a: number; b: number; a_port: string; b_port: string; from_a: number; from_b: number; rate_bps: number; length_mm: number }
export interface Queue { queue: number; lossless: boolean; wred_min_bytes: number; wred_max_bytes: number; probability: number; xoff_bytes: number; xon_bytes: number; buffer_bytes: number }
export interface Port { Port: number; Name: string; Node: string; Peer: string; Role: string; Rate: number; WireBytes: number; Frames: number; Marks: number; Paused: number; QueuePeak: number }
export interface Info {
  name: string;
  manifest: { scenario: string; resolved: Record<string, string>; complete: boolean; version: string; limits?: string[] };
  summary: Summary;
  topology: { kind: string; gpus_per_host: number; nodes: Node[]; links: Link[]; nics: { name: string; host: number; rail: number; links: number[] }[]; configs: Queue[] | null };
  ports: Port[];
  cols: number; // columns of time in a grid and in pauses
}
export interface Grid { metric: string; from_ps: number; to_ps: number; cols: number; ports: number; scale: number; unit: string; data: string }
export interface PortView { port: Port; series: number[][]; flows: { qp: number; from: string; to: string; wait_ps: number; packets: number }[]; flow_count: number }
export interface QPView { qp: { QP: number; From: string; To: string; Line: number; Marked: number; Cuts: number; Retrans: number }; path: { Port: number; Wait: number; Packets: number }[]; rates: number[][] }
export interface Ranks { from_ps: number; to_ps: number; names: string[]; spans: number[][]; ranks: number; left_out: number; shorter_ps: number; paused: [number, number][] }
/** Pauses are ports with the columns of time, first and last, in which they are paused, and whose congestion it is. */
export interface Pauses { cols: number; spans: [port: number, cause: number, first: number, last: number][]; count: number }
export interface Critical { path: { Start: number; End: number; Rank: number; Peer: number; Class: string }[]; count: number; left_out: number; left_out_ps: number }
export interface Coll {
  Instance: number; Name: string; Kind: string; Class: string; Ranks: number; FirstRank: number; Bytes: number; Start: number; End: number; Ideal: number; Latency: number; Collision: number;
  Oversub: number; Incast: number; Held: number; Pause: number; Retrans: number; SharedNIC: number; PCIe: number; Late: number; Port: number; At: number; Why: string; Count?: number;
}
export interface Flow { From: string; To: string; QP: number; Bytes: number; Posted: number; Done: number; Ideal: number; Class: string }
export interface Packet { number: number; at_ns: number; kind: string; from: string; to: string; sender: string; peer: string; again: boolean; qp: number; psn: number; ce: boolean; bytes: number; hex: string; fields: { layer: string; name: string; from: number; to: number; value: string; about: string }[] | null }
export interface Entry { name: string; title: string; at: string; complete: boolean; step_time_ps: number; mfu: number; gpus: number; lb: string; ecn_marks: number; pfc_pauses: number; drops: number; seed: number; error?: string }
export interface Job { id: string; title: string; state: string; error?: string; run?: string; now_ps: number; delivered_bytes: number; total_bytes: number; packet_hops: number; operations: number; operations_left: number; seconds: number; hops_per_second: number; seconds_left: number; so_far?: { ecn_marks: number; pfc_pauses: number; drops: number; queue_peak_bytes: number; hottest: { name: string; utilisation: number }[] | null; collectives: { name: string; count: number; time_ps: number; busbw_bytes_per_second: number }[] | null } }

let embedded: Record<string, unknown> | null = null;

/** load reads the run that a report carries, if this page is one. */
export async function load(): Promise<boolean> {
  const tag = document.getElementById("railyard-run");
  if (!tag) return false;
  const raw = Uint8Array.from(atob(tag.textContent ?? ""), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  embedded = JSON.parse(text);
  return true;
}

export const standalone = () => embedded !== null;

async function call<T>(path: string, init?: RequestInit): Promise<T> {
  let r: Response;
  try {
    r = await fetch(path, init);
  } catch {
    throw new Error("the server does not answer; is railyard serve still running?");
  }
  const body = await r.json().catch(() => ({ error: `the server answered ${r.status} without a reason` }));
  if (!r.ok) throw new Error(body.error ?? `the server answered ${r.status}`);
  return body as T;
}

const cache = new Map<string, Promise<unknown>>();

/** view asks for one view of a run. */
export function view<T>(run: string, what: string): Promise<T> {
  if (embedded) {
    return what in embedded ? Promise.resolve(embedded[what] as T) : Promise.reject(new Error("a report on disk holds a selection only; railyard serve shows everything"));
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

const post = (body: unknown) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
export const runs = () => call<Entry[]>("api/runs");
export const jobs = () => call<Job[]>("api/jobs");
export const about = () => call<{ version: string; root: string; scenarios: Record<string, string> }>("api/about");
export const schema = () => call<Record<string, unknown>>("api/schema");
export const check = (text: string) => call<{ ok: boolean; error?: string; line?: number; column?: number }>("api/check", post({ text, sets: [] }));
export const start = (text: string, sets: string[]) => call<Job>("api/jobs", post({ text, sets }));
export const stop = (id: string) => call<unknown>(`api/jobs/${id}`, { method: "DELETE" });
