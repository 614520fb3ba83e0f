import type { Answer, Info } from "./api";
import * as f from "./format";

/** Cast is who is who in the drawing of a run that pauses delay: the victim's path and ends, the incast and its senders. */
export interface Cast {
  bed: Set<number>; // ports
  senders: Set<number>; // nodes
  receiver: number;
  from: number;
  to: number;
}

export function castOf(info: Info, v: Answer["victim"]): Cast | undefined {
  if (!v) return undefined;
  const nodes = new Map(info.topology.nodes.map((n, i) => [n.name, i]));
  const at = (name: string) => nodes.get(name) ?? -1;
  return { bed: new Set(v.path), senders: new Set(v.senders.map(at)), receiver: at(v.receiver), from: at(v.from), to: at(v.to) };
}

/** delayed is the finding of such a run, and more of it. */
export function delayed({ summary: s }: Info, v: NonNullable<Answer["victim"]>): [string, string] {
  const root = s.pause_roots?.roots?.[0];
  const share = root && s.pause_roots!.paused_ps > 0 ? `, which causes ${f.percent(root.pause_ps / s.pause_roots!.paused_ps)} of the pause time` : "";
  return [
    `Pauses for the incast at ${v.receiver} delay ${v.from} → ${v.to}.`,
    `${f.plural(v.senders.length, "host")} share ${root?.name}${share}. ${v.from} → ${v.to} does not end there, yet takes ${f.time(v.time_ps)}, ${f.digits(v.time_ps / Math.max(1, v.ideal_ps))} × its ideal time.`,
  ];
}

/** CastKey says what the marks of the drawing are. */
export function CastKey({ v }: { v: NonNullable<Answer["victim"]> }) {
  return (
    <>
      <span>
        <i class="bed" />
        path of the victim {v.from} → {v.to}
      </span>
      <span>
        <i class="sends" />
        sends to {v.receiver}
      </span>
      <span>
        <i style={{ background: "var(--c-incast)" }} />
        {v.receiver}, incast
      </span>
    </>
  );
}
