import { useMemo } from "preact/hooks";
import { type Info, type Packet, type Packets as Part, standalone, view } from "./api";
import { FollowedPackets } from "./followed";
import * as f from "./format";
import { set, useData, usePlace } from "./state";

/** Packets is what a run has of single packets: those that it followed, and its capture. */
export function Packets({ info }: { info: Info }) {
  return (
    <>
      <FollowedPackets info={info} />
      <Ladder info={info} />
    </>
  );
}

/** Ladder is the capture: time downwards, sender left, receiver right. */
function Ladder({ info }: { info: Info }) {
  const place = usePlace();
  const skip = Number(place.args.get("skip") ?? 0);
  const chosen = place.args.has("packet") ? Number(place.args.get("packet")) : undefined;
  const from = Number(place.args.get("from") ?? 0);
  const what = standalone() || (skip === 0 && from === 0) ? "packets" : `packets?from=${from}&skip=${skip}`;
  const { data, error } = useData(() => view<Part>(info.name, what), [info.name, what]);
  const ends = useMemo(() => {
    const of = (p: Packet): [string, string] => (p.sender ? [p.sender, p.peer] : [p.from, p.to]);
    const names = [...new Set((data?.packets ?? []).flatMap(of).filter(Boolean))];
    const roles = new Map(info.topology.nodes.map((n) => [n.name, n.role === "host" ? 0 : n.tier]));
    const senders = new Set(
      (data?.packets ?? []).filter((p) => /WRITE|SEND|^data/.test(p.kind)).map((p) => p.from.split("/")[0]),
    );
    // Senders, switches, receivers.
    const place = (n: string) => ((roles.get(n) ?? 0) > 0 ? 1 : senders.has(n) ? 0 : 2);
    return names.sort((a, b) => place(a) - place(b)).slice(0, 8);
  }, [data]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="hint">loading…</p>;
  if (data.missing)
    return (
      <p class="hint" data-testid="no-capture">
        {data.missing}
      </p>
    );
  if (data.packets.length === 0) return <p class="hint">The capture holds no packets here.</p>;
  const base = data.packets[0].at_ns;
  const width = 720;
  const column = (name: string) =>
    110 + (Math.max(0, ends.indexOf(name)) * (width - 220)) / Math.max(1, ends.length - 1);
  const shown = data.packets.slice(0, 300);
  const p = data.packets.find((x) => x.number === chosen);
  return (
    <section aria-label="Packets" class="split even">
      <div class="ladder">
        <div class="bar">
          <button disabled={skip === 0} onClick={() => set({ skip: Math.max(0, skip - 300) || undefined })}>
            earlier
          </button>
          <button
            disabled={!data.more && data.packets.length <= 300}
            onClick={() => set({ skip: skip + 300 })}
          >
            later
          </button>
          <span>
            {shown.length} packets from {f.time(1000 * base)} on
          </span>
          <span class="kinds">
            <span>
              <i class="line ce" /> marked by a switch
            </span>
            <span>
              <i class="line bad" /> NAK or pause
            </span>
            <span>
              <i class="line again" /> retransmitted
            </span>
          </span>
        </div>
        <svg viewBox={`0 0 ${width} ${shown.length * 18 + 40}`} role="group" aria-label="ladder of packets">
          {ends.map((e) => (
            <g>
              <text x={column(e)} y={14} text-anchor="middle">
                {e}
              </text>
              <line x1={column(e)} x2={column(e)} y1={20} y2={shown.length * 18 + 36} class="rail" />
            </g>
          ))}
          {shown.map((x, i) => {
            const y = 34 + i * 18;
            const [from, to] = x.sender ? [x.sender, x.peer] : [x.from, x.to];
            const [a, b] = [column(from), column(to)];
            const bad = /NAK|pause/i.test(x.kind);
            return (
              <g
                class={
                  `packet${x.ce ? " ce" : ""}${bad ? " bad" : ""}${x.again ? " again" : ""}` +
                  (x.number === chosen ? " chosen" : "")
                }
                role="button"
                {...{ tabindex: 0 }}
                onClick={() => set({ packet: x.number })}
                onKeyDown={(e) => e.key === "Enter" && set({ packet: x.number })}
              >
                <rect x={0} y={y - 9} width={width} height={18} class="hit" />
                {from && <line x1={a} y1={y} x2={b} y2={y} marker-end="url(#arrow)" />}
                <text x={4} y={y + 4}>
                  {f.time(1000 * (x.at_ns - base))}
                </text>
                <text x={from ? (a + b) / 2 : width / 2} y={y - 2} text-anchor="middle">
                  {x.kind}
                  {x.from ? ` PSN ${x.psn}` : ""}
                  {x.again ? ", again" : ""}
                </text>
              </g>
            );
          })}
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path d="M0,0L8,4L0,8z" fill="context-stroke" />
            </marker>
          </defs>
        </svg>
      </div>
      <aside>
        {p ? (
          <Layers p={p} />
        ) : (
          <p class="hint">Choose a packet to see its layers, from Ethernet to the ICRC.</p>
        )}
      </aside>
    </section>
  );
}

function Layers({ p }: { p: Packet }) {
  const place = usePlace();
  const field = place.args.has("field") ? Number(place.args.get("field")) : -1;
  const pairs = p.hex.match(/../g) ?? [];
  const lit = p.fields?.[field];
  return (
    <div class="panel" data-testid="layers">
      <h3>
        packet {p.number}: {p.kind}, {p.bytes} bytes
      </h3>
      {p.from && (
        <p>
          {p.from} → {p.to}
          {p.sender && `, here from ${p.sender} to ${p.peer}`}
        </p>
      )}
      <p class="hex" aria-label="bytes of the headers">
        {pairs.map((b, i) => (
          <span class={lit && i >= lit.from && i < lit.to ? "lit" : ""}>{b} </span>
        ))}
        {p.bytes > pairs.length && `… ${p.bytes - pairs.length} more`}
      </p>
      {p.said && <p data-testid="said">{p.said}</p>}
      {(p.fields ?? []).length === 0 && (
        <p class="hint">
          {p.said
            ? "The capture has its length and not its bytes; above is what the simulator knows of it."
            : "This packet is not spelled out: it is no RoCEv2 or MRC over IPv4 or IPv6."}
        </p>
      )}
      <table class="tight" hidden={(p.fields ?? []).length === 0}>
        <thead>
          <tr>
            <th>layer</th>
            <th>field</th>
            <th>value and meaning</th>
          </tr>
        </thead>
        <tbody>
          {(p.fields ?? []).map((x, i) => (
            <tr class={i === field ? "chosen" : ""} onMouseEnter={() => set({ field: i })}>
              <td>{x.layer}</td>
              <td>
                <button class="plain" onClick={() => set({ field: i })}>
                  {x.name}
                </button>
              </td>
              <td>
                <span class="mono">{x.value}</span> <small>{x.about}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
