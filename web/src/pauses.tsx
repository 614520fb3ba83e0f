import { useEffect, useState } from "preact/hooks";
import { type Info, type Pauses, standalone, view } from "./api";
import type { PauseRanking, PauseRoot } from "./contract";
import * as f from "./format";
import { address, set, useData, usePlace } from "./state";

/** Paused is why a port is paused: the egress port that held most of its bytes, and the root; -1 for a server. */
export interface Paused {
  cause: number;
  root: number;
}

/** pausedAt lists the ports that are paused in a column, and why. */
export function pausedAt(pauses: Pauses | undefined, t: number): Map<number, Paused> {
  const on = new Map<number, Paused>();
  for (const [port, cause, first, last, root] of pauses?.spans ?? [])
    if (first <= t && t <= last && !on.has(port)) on.set(port, { cause, root });
  return on;
}

export interface Branch {
  port: number;
  depth: number;
  kind: "root" | "paused" | "before" | "circle";
}

/** tree orders paused ports below the ports that hold their bytes, roots first. A port that holds bytes because it
 * was paused a moment ago stands below its root as well. Ports that wait for one another are circles. */
export function tree(on: Map<number, Paused>): Branch[] {
  const parent = new Map<number, number>();
  for (const [port, { cause, root }] of on) {
    parent.set(port, cause);
    if (cause >= 0 && !on.has(cause) && root !== cause && !parent.has(cause)) parent.set(cause, root);
  }
  const children = new Map<number, number[]>();
  for (const [port, cause] of parent) {
    const list = children.get(cause);
    if (list) list.push(port);
    else children.set(cause, [port]);
  }
  const out: Branch[] = [];
  const met = new Set<number>();
  const walk = (cause: number, depth: number) => {
    for (const port of children.get(cause) ?? []) {
      if (met.has(port)) continue;
      met.add(port);
      out.push({ port, depth, kind: on.has(port) ? "paused" : "before" });
      walk(port, depth + 1);
    }
  };
  for (const cause of children.keys()) {
    if (parent.has(cause)) continue;
    out.push({ port: cause, depth: 0, kind: "root" });
    walk(cause, 1);
  }
  for (const port of parent.keys()) {
    if (met.has(port)) continue;
    met.add(port);
    out.push({ port, depth: 0, kind: "circle" });
    walk(port, 1);
  }
  return out;
}

const words = {
  root: "root: ",
  paused: "pauses ",
  before: "paused until just now: ",
  circle: "circular pause dependency: ",
};

export function PauseTree({ info, on }: { info: Info; on: Map<number, Paused> }) {
  const place = usePlace();
  return (
    <details open>
      <summary>PFC pause tree at this time: {on.size} paused ports</summary>
      <ol class="tree" data-testid="pause-tree">
        {tree(on)
          .slice(0, 60)
          .map((p) => (
            <li style={{ marginLeft: `${p.depth}em` }}>
              {words[p.kind]}
              {p.port < 0 ? (
                "a server that takes its data too slowly"
              ) : (
                <a href={address(place.path, { ...Object.fromEntries(place.args), port: p.port })}>
                  {info.ports[p.port].name}
                </a>
              )}
            </li>
          ))}
      </ol>
    </details>
  );
}

const named = (r: PauseRoot) =>
  r.kind === "receiver"
    ? `slow receiver behind ${r.name}`
    : r.kind === "circular"
      ? `circular pause dependency at ${r.name}`
      : r.name;

/** PauseRoots ranks what ports are paused for, between two times or in the whole run: by bytes held x pause caused. */
export function PauseRoots({ info, from, to }: { info: Info; from?: number; to?: number }) {
  const part = from !== undefined && !standalone();
  const what = part ? `roots?from=${from}&to=${to}` : "roots";
  const { data } = useData(() => view<PauseRanking>(info.name, what), [info.name, what]);
  const [shown, show] = useState<PauseRanking | undefined>(undefined);
  useEffect(() => {
    if (data) show(data); // what was there stays until the next is
  }, [data]);
  const paused = info.summary.pfc_pauses > 0 && (info.summary.fidelity ?? "packet") !== "packet";
  if (shown?.roots.length === 0 && paused)
    return (
      <p class="note" data-testid="pause-roots">
        Fidelity {info.summary.fidelity} records no roots of pauses and no flows held; --set fidelity=packet does.
      </p>
    );
  if (!shown || shown.roots.length === 0) return null;
  const share = (ps: number) => f.percent(ps / Math.max(1, shown.paused_ps));
  return (
    <div class="panel" data-testid="pause-roots">
      <h3>Pause roots {part ? "at this time" : "of the run"}, by bytes held × pause caused</h3>
      <table class="tight">
        <thead>
          <tr>
            <th>root</th>
            <th class="n">pause caused</th>
            <th class="n">share</th>
            <th class="n">held</th>
          </tr>
        </thead>
        <tbody>
          {shown.roots.slice(0, 6).map((r) => (
            <tr>
              <td>
                <button class="plain" onClick={() => set({ port: r.port, qp: undefined }, false)}>
                  {named(r)}
                </button>
              </td>
              <td class="n">{f.time(r.pause_ps)}</td>
              <td class="n">{share(r.pause_ps)}</td>
              <td class="n">{f.bytes(r.held_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.root_count > 6 && (
        <p class="hint">{f.count(shown.root_count - 6)} more roots, in summary.json</p>
      )}
      {(shown.jobs ?? []).length > 0 && (
        <p>
          By job:{" "}
          {shown
            .jobs!.slice(0, 4)
            .map((j) => `${j.job} ${share(j.pause_ps)}`)
            .join(", ")}
        </p>
      )}
      {shown.flows.length > 0 && (
        <p data-testid="pause-flows">
          Bytes of {f.count(shown.flow_count)} {shown.flow_count === 1 ? "flow" : "flows"}, most of{" "}
          {shown.flows
            .slice(0, 3)
            .map((x) => `${x.from} → ${x.to} (${share(x.pause_ps)})`)
            .join(", ")}
        </p>
      )}
    </div>
  );
}
