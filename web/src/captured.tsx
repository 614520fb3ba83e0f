import { useMemo, useRef, useState } from "preact/hooks";
import { type Info, type Packet, type Packets as Part, standalone, view } from "./api";
import * as f from "./format";
import { set, useData, usePlace } from "./state";

const row = 22;
const tall = 400;

/** kindOf is the class of a packet's row. */
const kindOf = (p: Packet) =>
  /NAK/.test(p.kind) ? "bad" : /pause/i.test(p.kind) ? "pause" : p.again ? "again" : p.ce ? "ce" : "";

/** sign stands before what a switch or a receiver said of a packet; colour alone does not. */
const sign: Record<string, string> = { bad: "✕", pause: "‖", again: "↻", ce: "◆", "": "" };

const jumps = [
  ["nak", "NAK"],
  ["mark", "mark"],
  ["pause", "pause"],
  ["again", "retransmission"],
  ["cnp", "CNP"],
] as const;

/** Captured is the capture of a run: a list to filter, the headers of one packet, its bytes. */
export function Captured({ info }: { info: Info }) {
  const place = usePlace();
  const alone = standalone();
  const chosen = place.args.has("packet") ? Number(place.args.get("packet")) : undefined;
  const filter = place.args.get("filter") ?? "";
  const query = new URLSearchParams();
  for (const k of ["from", "filter", "skip"]) if (place.args.get(k)) query.set(k, place.args.get(k)!);
  const what = alone || query.size === 0 ? "packets" : `packets?${query}`;
  const { data, error } = useData(() => view<Part>(info.name, what), [info.name, what]);
  const [said, say] = useState("");
  const [top, scroll] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const list = data?.packets ?? [];
  const at = list.findIndex((p) => p.number === chosen);
  const show = (i: number) => {
    const b = box.current;
    if (!b) return;
    if (i * row < b.scrollTop) b.scrollTop = i * row;
    if ((i + 2) * row > b.scrollTop + b.clientHeight) b.scrollTop = (i + 2) * row - b.clientHeight;
  };
  const choose = (i: number) => {
    if (i < 0 || i >= list.length) return;
    set({ packet: list[i].number, field: undefined });
    show(i);
  };
  const jump = (kind: string, name: string) => {
    const q = new URLSearchParams(query);
    q.delete("skip");
    q.set("jump", kind);
    q.set("after", String(chosen ?? 0));
    view<Part>(info.name, `packets?${q}`).then(
      (p) => {
        say(p.found ? "" : `No ${name} after packet ${chosen ?? 0}.`);
        if (!p.found) return;
        set({ packet: p.found, skip: p.skip || undefined, field: undefined });
        requestAnimationFrame(() => box.current?.scrollTo({ top: 0 }));
      },
      (e: Error) => say(e.message),
    );
  };
  const rows = useMemo(() => {
    const first = Math.max(0, Math.floor(top / row) - 4);
    return list.slice(first, first + Math.ceil(tall / row) + 8).map((p, i) => [first + i, p] as const);
  }, [data, top]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="loading">Loading the capture…</p>;
  if (data.missing)
    return (
      <p class="note" data-testid="no-capture">
        {data.missing} {!alone && <><i>Follow</i> captures ports of a message's path; </>}
        <code>railyard run --capture PORT</code> captures any port.
      </p>
    );
  return (
    <div class="captured" data-testid="capture">
      <div class="head">
        <h2>Capture</h2>
        <div class="bar">
          {!alone && (
            <>
              <input
                type="search"
                size={28}
                aria-label="filter packets"
                placeholder="qp=17 psn>100 !ack host-4"
                title="Words that a packet has: qp= (the run's queue pair) qpn= (on the wire) psn= psn> psn< no= len>, nak, mark, pause, again, cnp, kinds and ends; ! negates"
                value={filter}
                onInput={(e) => set({ filter: e.currentTarget.value || undefined, skip: undefined, packet: undefined })}
              />
              <span class="note">next</span>
              {jumps.map(([kind, name]) => (
                <button onClick={() => jump(kind, name)}>{name}</button>
              ))}
              <a class="button" href={`api/runs/${encodeURIComponent(info.name)}/capture.pcapng`} download>
                pcapng
              </a>
            </>
          )}
        </div>
      </div>
      <p class="note" aria-live="polite">
        {list.length === 0
          ? "No packet matches."
          : `${data.skip > 0 || data.more ? `Packets ${f.count(data.skip + 1)} to ${f.count(data.skip + list.length)} of the ${filter ? "filter" : "capture"}` : f.plural(list.length, "packet")}, times of the run.`}{" "}
        {data.skip > 0 && (
          <button class="plain" onClick={() => set({ skip: Math.max(0, data.skip - 1000) || undefined })}>
            earlier
          </button>
        )}{" "}
        {data.more && (
          <button class="plain" onClick={() => set({ skip: data.skip + list.length })}>
            later
          </button>
        )}{" "}
        {said}
      </p>
      {list.length > 0 && (
        <>
          <div
            class="rowbox"
            ref={box}
            style={{ height: `${Math.min(tall, (list.length + 1) * row + 2)}px` }}
            tabIndex={0}
            role="listbox"
            aria-label="packets"
            aria-activedescendant={at >= 0 ? `packet-${chosen}` : undefined}
            onScroll={(e) => scroll(e.currentTarget.scrollTop)}
            onKeyDown={(e) => {
              const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 16, PageUp: -16, Home: -1e6, End: 1e6, Enter: 0 }[e.key];
              if (step === undefined) return;
              e.preventDefault();
              choose(at < 0 ? 0 : Math.max(0, Math.min(list.length - 1, at + step)));
            }}
          >
            <div class="rows headrow" aria-hidden="true">
              <span class="n">no.</span>
              <span class="n">time, µs</span>
              <span class="n" title="time since the packet before it">Δ, µs</span>
              <span title="port that sent it on the captured link">port</span>
              <span>source</span>
              <span>destination</span>
              <span class="n">length</span>
              <span class="n" title="destination queue pair">QPN</span>
              <span class="n">PSN</span>
              <span>info</span>
            </div>
            <div class="listed" style={{ height: `${list.length * row}px` }} role="presentation">
              {rows.map(([i, p]) => (
                <div
                  class={`rows ${kindOf(p)}`}
                  role="option"
                  id={`packet-${p.number}`}
                  aria-selected={p.number === chosen}
                  style={{ top: `${i * row}px` }}
                  onClick={() => choose(i)}
                >
                  <span class="n">{p.number}</span>
                  <span class="n">{(p.at_ns / 1000).toFixed(3)}</span>
                  <span class="n">{i > 0 ? ((p.at_ns - list[i - 1].at_ns) / 1000).toFixed(3) : ""}</span>
                  <span>{p.port || "–"}</span>
                  <span>{p.from || p.sender}</span>
                  <span>{p.to || p.peer}</span>
                  <span class="n">{p.bytes}</span>
                  <span class="n">{p.qp || ""}</span>
                  <span class="n">{p.from ? p.psn : ""}</span>
                  <span>
                    {sign[kindOf(p)]} {p.kind}
                    {p.ce && kindOf(p) !== "ce" ? " ◆" : ""}
                    {p.ce ? ", CE" : ""}
                    {p.again ? ", retransmitted" : ""}
                  </span>
                </div>
              ))}
            </div>
          </div>
        </>
      )}
      {list.length > 0 && <Layers p={list[Math.max(0, at)]} />}
    </div>
  );
}

/** Layers is the tree of a packet's headers next to its bytes; a field and its bytes light up together. */
function Layers({ p }: { p: Packet }) {
  const place = usePlace();
  const field = place.args.has("field") ? Number(place.args.get("field")) : -1;
  const pairs = p.hex.match(/../g) ?? [];
  const fields = p.fields ?? [];
  const lit = fields[field];
  const layers = [...new Set(fields.map((x) => x.layer))];
  const of = (byte: number) => fields.findIndex((x) => byte >= x.from && byte < x.to);
  const lines = Array.from({ length: Math.ceil(pairs.length / 16) }, (_, i) => pairs.slice(16 * i, 16 * i + 16));
  const text = (b: string) => {
    const c = parseInt(b, 16);
    return c >= 32 && c < 127 ? String.fromCharCode(c) : "·";
  };
  return (
    <div class="split even" data-testid="layers">
      <div class="panel headers">
        <h3>
          Packet {p.number}: {p.kind}, {p.bytes} bytes{p.sender && `, ${p.sender} → ${p.peer}`}
        </h3>
        {p.said && <p data-testid="said">{p.said}</p>}
        {fields.length === 0 && (
          <p class="note">
            {p.said
              ? "The capture has its length and not its bytes; above is what the simulator knows of it."
              : "Neither RoCEv2 nor MRC over IPv4 or IPv6: its headers are not decoded."}
          </p>
        )}
        {layers.map((layer) => (
          <details open={!/Ethernet|IPv|UDP/.test(layer) || lit?.layer === layer}>
            <summary>
              <b>{layer}</b>{" "}
              <span class="note">
                {fields
                  .filter((x) => x.layer === layer)
                  .slice(0, 3)
                  .map((x) => `${x.name} ${x.value}`)
                  .join(", ")}
              </span>
            </summary>
            <table class="tight">
              <tbody>
                {fields.map((x, i) =>
                  x.layer !== layer ? null : (
                    <tr class={i === field ? "chosen" : ""} onMouseEnter={() => set({ field: i })}>
                      <td>
                        <button class="plain" onClick={() => set({ field: i })}>
                          {x.name}
                        </button>
                      </td>
                      <td>
                        <span class="mono">{x.value}</span> <small>{x.about}</small>
                      </td>
                    </tr>
                  ),
                )}
              </tbody>
            </table>
          </details>
        ))}
      </div>
      <div class="panel">
        <h3>Bytes</h3>
        <p class="hex" tabIndex={0} role="region" aria-label="bytes of the headers">
          {lines.map((l, n) => (
            <>
              <span class="offset">{(16 * n).toString(16).padStart(4, "0")} </span>
              {l.map((b, i) => {
                const k = 16 * n + i;
                return (
                  <span
                    class={lit && k >= lit.from && k < lit.to ? "lit" : ""}
                    onMouseEnter={() => of(k) >= 0 && set({ field: of(k) })}
                  >
                    {b}{" "}
                  </span>
                );
              })}
              <span class="offset">{"   ".repeat(16 - l.length)} {l.map(text).join("")}</span>
              {"\n"}
            </>
          ))}
          {p.bytes > pairs.length && `… ${p.bytes - pairs.length} more`}
        </p>
      </div>
    </div>
  );
}
