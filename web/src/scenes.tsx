import type { JSX } from "preact";
import { type Info, type Packets as Part, standalone, view } from "./api";
import type { Journeys, Messages, Sequence } from "./contract";
import * as f from "./format";
import { useData } from "./state";
import { useWidth } from "./stepbar";
import { stack, transportOf } from "./transport";

type Message = Messages["messages"][number];
type Followed = Journeys["packets"][number];

/** Told is what a run recorded of one message: a packet of it that was followed, and one of its captured packets. */
export interface Recorded {
  m?: Message;
  p?: Followed;
  fields: Record<string, string>; // of a captured packet, by layer and name
  list: Message[]; // all listed messages, by time
  count: number;
}

/** useRecorded reads it: the message of the first followed packet, else the slowest. */
export function useRecorded(info: Info): Recorded {
  const alone = standalone();
  const followed = useData(() => view<Journeys>(info.name, "followed"), [info.name]);
  const p = (followed.data?.packets ?? []).find((x) => (x.copies ?? []).length > 0);
  const own = useData(p && !alone ? () => view<Messages>(info.name, `messages?qp=${p.qp}`) : null, [info.name, p?.qp]);
  const all = useData(() => view<Messages>(info.name, "messages"), [info.name]);
  const first = p?.first_psn;
  const captured = useData(
    p && !alone ? () => view<Part>(info.name, `packets?filter=${encodeURIComponent(`psn=${p.psn} !ack`)}`) : null,
    [info.name, p?.psn],
  );
  const nth = p && first !== undefined ? (p.psn - first + 2 ** 24) % 2 ** 24 : -1;
  const m =
    (p && (own.data?.messages ?? all.data?.messages ?? []).find((x) => x.qp === p!.qp && nth >= x.first_packet && nth < x.first_packet + x.packets)) ?? (p ? undefined : all.data?.messages[0]);
  const fields: Record<string, string> = {};
  for (const x of (captured.data?.packets ?? []).find((x) => x.psn === p?.psn && /WRITE|SEND|data/i.test(x.kind))?.fields ?? [])
    fields[`${x.layer} ${x.name}`] = x.value;
  return { m, p, fields, list: [...(all.data?.messages ?? [])].sort((a, b) => a.posted_ps - b.posted_ps), count: all.data?.count ?? 0 };
}

const qpn = (n?: number) => (n === undefined ? undefined : `0x${n.toString(16).padStart(6, "0")}`);
const key = (n?: number) => (n === undefined ? undefined : `0x${n.toString(16).padStart(8, "0")}`);

/** pairSteps are the moments of a message: posted, under way, delivered, complete. */
export const pairSteps = 4;

/** Pair is a queue pair at work: the message's work request on the left, its memory on the right, up to a moment. */
export function Pair({ info, r, at }: { info: Info; r: Recorded; at: number }) {
  const { box, width } = useWidth(1100);
  const { m, p } = r;
  if (!m) return <div ref={box} class="facts note">No message between servers was recorded.</div>;
  const small = width < 700;
  const end = m.done_ps < 0 ? "not complete" : m.posted_ps > 0 ? `+${f.time(m.done_ps - m.posted_ps)}` : f.time(m.done_ps);
  const left: [string, string | undefined][] = [
    ["work request", `WRITE, ${f.bytes(m.bytes)}`],
    ["posted", f.time(m.posted_ps)],
    ["QPN", qpn(p?.requester_qpn)],
  ];
  const right: [string, string | undefined][] = [
    ["memory of", m.to],
    ["rkey", key(p?.rkey)],
    ["QPN", qpn(p?.responder_qpn)],
  ];
  const first = p?.first_psn === undefined ? undefined : (p.first_psn + m.first_packet) % 2 ** 24;
  const psns = first === undefined ? f.plural(m.packets, "packet") : m.packets > 1 ? `PSN ${first} to ${(first + m.packets - 1) % 2 ** 24}` : `PSN ${first}`;
  const w = small ? 138 : 250;
  const x2 = width - w - 2;
  const say = ["", `WRITE of ${f.bytes(m.bytes)} is queued at ${f.time(m.posted_ps)}`, `${f.plural(m.packets, "packet")} of up to ${info.manifest.resolved["transport.mtu"] ?? 4096} B`, `last byte in ${m.to} at ${end}`, `completion at ${m.from}`][at];
  const side = (x: number, title: string, rows: [string, string | undefined][], lit: boolean) => (
    <g>
      <rect x={x} y={24} width={w} height={116} rx={6} class={lit ? "box lit-box" : "box"} />
      <text class="b" x={x + 12} y={16}>
        {title}
      </text>
      {rows.map(([name, value], i) =>
        value ? (
          <g>
            <text class="note" x={x + 12} y={50 + 34 * i}>
              {small && i === 0 ? "" : name}
            </text>
            <text class="small b" x={x + w - 10} y={50 + 34 * i} text-anchor="end">
              {value}
            </text>
          </g>
        ) : null,
      )}
    </g>
  );
  return (
    <div ref={box} class="facts" data-testid="pair" data-step={at}>
      <svg width={width} height={200} role="img" aria-label={`${m.from} to ${m.to}: ${psns}, ${f.bytes(m.bytes)}, ${say}`}>
        {at >= 2 && <path class="wire" d={`M${w + 2} 82H${x2}`} />}
        {at >= 2 && <path d={`M${at > 2 ? x2 : (w + x2) / 2} 82l-9 -5v10z`} fill="var(--ink)" />}
        {at >= 2 && (
          <text class="small over" x={width / 2} y={small ? 158 : 72} text-anchor="middle">
            {psns}
          </text>
        )}
        {at >= 4 && (
          <>
            <path class="wire dashed" d={`M${x2} 112H${w + 2}`} />
            <path d={`M${w + 2} 112l9 -5v10z`} fill="var(--ink)" />
            <text class="small over" x={width / 2} y={small ? 176 : 130} text-anchor="middle">
              ACK, completion
            </text>
          </>
        )}
        {side(2, small ? m.from : `${m.from}, send queue`, at >= 1 ? left : [], at === 1 || at >= 4)}
        {side(x2, m.to, at >= 3 ? [...right.slice(0, 2), ["complete", end]] : right, at === 3)}
        <text x={width / 2} y={195} text-anchor="middle" class="b">
          {say}
        </text>
      </svg>
    </div>
  );
}

/** stackRows are the headers of a packet, with this run's values where one was followed or captured. */
export function stackRows(info: Info, r: Recorded): { name: string; bytes: string; value: string; means: string; absent: boolean }[] {
  const { p, m, fields } = r;
  const c = p?.copies.find((x) => x.data);
  const mtu = Number(info.manifest.resolved["transport.mtu"] ?? 4096);
  const nth = p && m && p.first_psn !== undefined ? ((p.psn - p.first_psn + 2 ** 24) % 2 ** 24) - m.first_packet : -1;
  // Simulated addresses number the NICs, as captures have them.
  const address = (nic: string) => {
    const n = info.topology.nics.findIndex((x) => x.name === nic) + 1;
    return `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  };
  const has = (k: string) => fields[k];
  const values: Record<string, string | undefined> = {
    Ethernet: has("Ethernet destination") && `${has("Ethernet source")} → ${has("Ethernet destination")}`,
    IPv4: p && `${has("IPv4 source") ?? address(p.from)} → ${has("IPv4 destination") ?? address(p.to)}${c?.hops.some((h) => h.marked) ? ", ECN set to CE on the way" : ""}`,
    IPv6: has("IPv6 source") && `${has("IPv6 source")} → ${has("IPv6 destination")}`,
    UDP: has("UDP source port") && `source port ${has("UDP source port")}, to 4791`,
    BTH: p && `${c?.kind ?? ""}, to QPN ${qpn(p.responder_qpn) ?? "?"}, PSN ${p.psn}`,
    RETH: p && (c?.kind && !/First|Only/.test(c.kind) ? `not in this packet: ${c.kind}` : `rkey ${key(p.rkey)}, ${m ? f.bytes(m.bytes) : ""}`),
    payload: m && nth >= 0 ? `${Math.max(0, Math.min(mtu, m.bytes - nth * mtu))} B from byte ${nth * mtu} of ${m.bytes} on` : undefined,
    "ICRC, FCS": has("ICRC invariant CRC"),
  };
  return stack(transportOf(info), info).map((x) => ({ name: x.name, bytes: x.bytes, value: values[x.name] ?? x.fields, means: x.means, absent: !!values[x.name]?.startsWith("not in") }));
}

/** Stack is the packet's headers built one after the other: a strip of its bytes and a row for each header. */
export function Stack({ rows, at, mtu }: { rows: ReturnType<typeof stackRows>; at: number; mtu: number }) {
  const size = (b: string) => (b.includes("up to") ? mtu : b.split("+").reduce((n, x) => n + (Number.parseInt(x) || 0), 0));
  const wide = (b: string) => Math.max(5, Math.min(40, Math.sqrt(size(b)) * 5));
  return (
    <div class="headerstack" data-testid="stack">
      <div class="strip" role="img" aria-label={`${rows.map((x) => x.name).join(", then ")}: the packet's headers in the order of the wire`}>
        {rows.map((x, i) => (
          <span class={i < at && !x.absent ? (i === at - 1 && at < rows.length ? "now" : "") : "later"} style={{ flexGrow: wide(x.bytes) }}>
            <b>{x.name}</b>
            <small>{/\d$/.test(x.bytes) ? `${x.bytes} B` : x.bytes}</small>
          </span>
        ))}
      </div>
      <table class="owners">
        <thead>
          <tr>
            <th>header</th>
            <th class="n">bytes</th>
            <th>in this packet</th>
            <th>meaning</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((x, i) => (
            <tr class={i >= at || x.absent ? "later" : i === at - 1 && at < rows.length ? "chosen" : ""}>
              <td>
                <b>{x.name}</b>
              </td>
              <td class="n">{x.bytes}</td>
              <td>{x.value}</td>
              <td>{x.means}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const most = 16; // transfers drawn

/** Transfers are the messages of a run without a ring on one axis: who sends how much to whom, and for how long. */
export function Transfers({ info, r }: { info: Info; r: Recorded }) {
  const { box, width } = useWidth(1100);
  const list = [...r.list].sort((a, b) => b.bytes - a.bytes).slice(0, most).sort((a, b) => a.posted_ps - b.posted_ps || a.done_ps - b.done_ps);
  if (list.length === 0) return <div ref={box} class="facts note">No message between servers was recorded.</div>;
  const step = info.span_ps;
  const small = width < 700;
  const left = small ? 150 : 250;
  const right = 76;
  const x = (ps: number) => left + (ps / step) * (width - left - right);
  return (
    <div ref={box} class="facts" data-testid="transfers">
      <svg width={width} height={list.length * 24 + 26} role="img" aria-label={`${list.length} of ${r.count} messages over the step`}>
        {f.axis(0, step, small ? 3 : 6).map((t) => (
          <g>
            <path class="grid" d={`M${x(t.at)} 0V${list.length * 24}`} />
            <text class="small" x={x(t.at)} y={list.length * 24 + 16} text-anchor="middle">
              {t.label}
            </text>
          </g>
        ))}
        {list.map((m, i) => {
          const end = m.done_ps < 0 ? step : m.done_ps;
          return (
            <g data-message={m.message}>
              <text class="small" x={0} y={i * 24 + 16}>
                {small ? `${m.from.split("/")[0]} → ${m.to.split("/")[0]}` : `${m.from} → ${m.to}`}
              </text>
              <rect x={x(m.posted_ps)} y={i * 24 + 4} width={Math.max(1, x(end) - x(m.posted_ps))} height={15} fill="var(--l2)" />
              <rect x={x(m.posted_ps)} y={i * 24 + 4} width={Math.max(1, x(Math.min(end, m.posted_ps + m.ideal_ps)) - x(m.posted_ps))} height={15} fill="var(--c-line_rate)" />
              <text class="small" x={width - 2} y={i * 24 + 16} text-anchor="end">
                {f.bytes(m.bytes)}
              </text>
            </g>
          );
        })}
      </svg>
      <p class="kinds">
        <span>
          <i style={{ background: "var(--c-line_rate)" }} />
          ideal time
        </span>
        <span>
          <i style={{ background: "var(--l2)" }} />
          until complete
        </span>
        {r.count > list.length && <span>the {list.length} largest of {f.plural(r.count, "message")}</span>}
      </p>
    </div>
  );
}

/** Kinds are the collectives of a run: how often each ran, and its bus bandwidth against what its busiest NIC or NVLink port allows. */
export function Kinds({ info }: { info: Info }) {
  const list = (info.summary.collectives ?? []).filter((c) => c.kind !== "send-recv");
  return (
    <div class="scroll">
      <table class="owners" data-testid="kinds">
        <thead>
          <tr>
            <th>collective</th>
            <th>algorithm</th>
            <th class="n">times</th>
            <th class="n">size</th>
            <th class="n">ranks</th>
            <th class="n">busbw</th>
            <th>of what its busiest port allows</th>
          </tr>
        </thead>
        <tbody>
          {list.map((c) => {
            const share = c.bound_bytes_per_second > 0 ? c.busbw_bytes_per_second / c.bound_bytes_per_second : 0;
            return (
              <tr>
                <td>{c.name}</td>
                <td>{c.algorithm ?? "–"}</td>
                <td class="n">{f.count(c.count)}</td>
                <td class="n">{f.bytes(c.bytes)}</td>
                <td class="n">{c.ranks}</td>
                <td class="n">{f.digits(c.busbw_bytes_per_second / 1e9)} GB/s</td>
                <td>
                  {share > 0 ? (
                    <>
                      <i class="bar-share" style={{ width: `${80 * Math.min(1, share)}px`, background: "var(--c-line_rate)" }} /> {f.percent(share)} {c.bound_by}
                    </>
                  ) : (
                    "–"
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Known is what each end of a queue pair has after a step of the exchange. */
export function Known({ info, r, s, at }: { info: Info; r: Recorded; s: Sequence; at: number }) {
  const { p } = r;
  const own = info.manifest.resolved;
  const [a, b] = s.lanes;
  const when = (label: string, lane: number) => s.steps.findIndex((x) => x.label.includes(label) && (x.to === lane || x.from === lane));
  const rows: [string, string | undefined, number, number][] = [
    [`QPN of ${a}`, qpn(p?.requester_qpn), when("creates", 0), when(`PSN`, 1)],
    ["first PSN", p?.first_psn === undefined ? undefined : String(p.first_psn), when("creates", 0), when("PSN", 1)],
    [`QPN of ${b}`, qpn(p?.responder_qpn), when("rkey", 0), when("creates", 1)],
    ["rkey", key(p?.rkey), when("rkey", 0), when("registers", 1)],
  ];
  const state = (lane: number) => {
    const ready = s.steps.slice(0, at).findLast((x) => x.label.startsWith("ready") && x.to === lane && x.from === lane);
    const made = when("creates", lane);
    if (ready) return ready.label.includes("RTS") ? "RTS" : "RTR";
    return made >= 0 && at > made ? "INIT" : "RESET";
  };
  const cell = (value: string | undefined, from: number) => <td class={from >= 0 && at > from ? "" : "later"}>{from >= 0 && at > from ? value : "–"}</td>;
  return (
    <div class="scroll">
    <table class="owners known" data-testid="known">
      <thead>
        <tr>
          <th>after step {at} of {s.steps.length}</th>
          <th>{a} has</th>
          <th>{b} has</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <td>state</td>
          <td>
            <b>{state(0)}</b>
          </td>
          <td>
            <b>{state(1)}</b>
          </td>
        </tr>
        {rows.map(([name, value, left, right]) => (
          <tr>
            <td>{name}</td>
            {cell(value, left)}
            {cell(value, right)}
          </tr>
        ))}
        <tr>
          <td>path MTU</td>
          <td>{own["transport.mtu"] ?? "4096"} B</td>
          <td>{own["transport.mtu"] ?? "4096"} B</td>
        </tr>
        {own["transport.retries"] && (
          <tr>
            <td>retries, timeout</td>
            <td>
              {own["transport.retries"]}, {(own["computed.transport.timeout"] ?? own["transport.timeout"] ?? "–").replace(/^(\d+\.?\d*)(?=[a-z])/, (v) => `${f.digits(Number(v))} `)}
            </td>
            <td>–</td>
          </tr>
        )}
      </tbody>
    </table>
    </div>
  );
}

/** Ends is a sequence on its time axis, up to a step: bars from sending to arriving, marks for what happens at one place.
 * What lies long before the other steps has its time as words. */
export function Ends({ s, at }: { s: Sequence; at: number }): JSX.Element | null {
  const { box, width } = useWidth(1100);
  const moving = s.steps.filter((x) => x.kind !== "here");
  if (moving.length === 0) return null;
  const from = moving[0].at_ps;
  const last = Math.max(...moving.map((x) => x.until_ps));
  const span = Math.max(1, last - from);
  const inside = (t: number) => t >= from - 0.2 * span && t <= last + 0.5 * span;
  const to = Math.max(last, ...s.steps.map((x) => x.until_ps).filter(inside));
  const small = width < 700;
  const where = (x: Sequence["steps"][number]) => (x.from === x.to ? s.lanes[x.to] : `${s.lanes[x.from]} → ${s.lanes[x.to]}`);
  const left = small ? 120 : Math.min(0.4 * width, 20 + 6.3 * Math.max(...s.steps.map((x) => where(x).length + 2 + x.label.length)));
  const x = (t: number) => left + ((Math.max(from, Math.min(to, t)) - from) / Math.max(1, to - from)) * (width - left - (small ? 30 : 190));
  const y = (i: number) => 4 + i * 26;
  return (
    <div ref={box} class="facts" data-testid="ends">
      <svg width={width} height={y(s.steps.length) + 22} role="img" aria-label={`${s.title}: ${s.steps.length} steps over ${f.time(to - from)}`}>
        {f.axis(0, to - from, small ? 3 : 6).map((t) => (
          <g>
            <path class="grid" d={`M${x(from + t.at)} 0V${y(s.steps.length)}`} />
            <text class="small" x={x(from + t.at)} y={y(s.steps.length) + 15} text-anchor="middle">
              {t.at > 0 ? `+${t.label}` : f.time(from)}
            </text>
          </g>
        ))}
        {s.steps.slice(0, at).map((step, i) => {
          return (
            <g class={`k-${step.kind} ${i === at - 1 ? "now" : ""}`}>
              <text class={i === at - 1 ? "small b" : "small"} x={0} y={y(i) + 16}>
                {small ? step.label : `${where(step)}: ${step.label}`}
              </text>
              {!inside(step.at_ps) ? (
                <text class="small" x={left + 4} y={y(i) + 16}>
                  {f.time(step.at_ps)}
                </text>
              ) : step.until_ps > step.at_ps ? (
                <rect class="span" x={x(step.at_ps)} y={y(i) + 4} width={Math.max(2, x(step.until_ps) - x(step.at_ps))} height={15} />
              ) : (
                <path class="span" d={`M${x(step.at_ps)} ${y(i) + 3}l6 8l-6 8l-6 -8z`} />
              )}
              {inside(step.at_ps) && !small && (
                <text class="small over" {...(x(step.until_ps) > 0.72 * width ? { x: x(step.at_ps) - 10, "text-anchor": "end" } : { x: x(step.until_ps) + 10 })} y={y(i) + 16}>
                  {step.until_ps > step.at_ps ? f.time(step.until_ps - step.at_ps) : step.detail}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
