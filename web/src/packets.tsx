import { type Info, standalone, view } from "./api";
import { Captured } from "./captured";
import { byFlow, NotSimulated } from "./flow";
import type { Journeys, Messages, QPView, Trace } from "./contract";
import * as f from "./format";
import { ordered, Passage } from "./passage";
import { Rerun, searched, traced, unfollowable } from "./rerun";
import { address, set, useData, usePlace } from "./state";
import { StepBar } from "./stepbar";
import { alike, longestOf, tookOf, Waterfall, WaterfallKey } from "./waterfall";

type Message = Messages["messages"][number];

/** Packets is one message, its path and its packets: those that the run followed, and its capture. */
export function Packets({ info }: { info: Info }) {
  const place = usePlace();
  const arg = (k: string) => (place.args.get(k) ? Number(place.args.get(k)) : undefined);
  const [qp, chosen] = [arg("qp"), arg("message")];
  const text = place.args.get("text") ?? "";
  const alone = standalone();
  const query = new URLSearchParams();
  for (const k of ["qp", "text", "from", "to"]) if (place.args.get(k)) query.set(k, place.args.get(k)!);
  const what = query.size > 0 && !alone ? `messages?${query}` : "messages";
  const { data, error } = useData(() => view<Messages>(info.name, what), [info.name, what]);
  const followed = useData(() => view<Journeys>(info.name, "followed"), [info.name]);
  const list = data?.messages ?? [];
  const traces = followed.data?.packets ?? [];
  // Without a choice the view opens on the message of a packet that was followed.
  const first = query.size === 0 && chosen === undefined ? traces.find((p) => (p.copies ?? []).length > 0) : undefined;
  const away = first && !list.some((x) => holds(x, first)) && !alone;
  const own = useData(away ? () => view<Messages>(info.name, `messages?qp=${first.qp}`) : null, [info.name, away, first?.qp]);
  const m =
    list.find((x) => x.message === chosen) ??
    (first && (list.find((x) => holds(x, first)) ?? (own.data?.messages ?? []).find((x) => holds(x, first)))) ??
    list[0];
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data || (!followed.data && !followed.error) || (away && !own.data && !own.error)) return <p class="loading">Loading messages…</p>;
  const mine = traces.filter((p) => !m || p.qp === m.qp);
  // Of several packets the title has the one that waited longest.
  const shown = m && mine.filter((p) => holds(m, p) && (p.copies ?? []).length > 0).reduce<(typeof mine)[number] | undefined>((a, b) => (a && longestOf(a) >= longestOf(b) ? a : b), undefined);
  const others = traces.length - mine.length;
  const below = m?.why;
  return (
    <section aria-label="Packet" class="wide">
      <div data-testid="packet-finding">
        <h1 class="finding">{shown ? tookOf(shown)[0] : m ? finding(m) : "No message matches."}</h1>
        {shown && <p class="lede">{tookOf(shown)[1]}</p>}
        {m && (shown || below) && (
          <p class={shown ? "note" : "lede"}>
            {shown && `Its message: ${finding(m)} `}
            {below && `${below}.`}
          </p>
        )}
      </div>
      {m && <Bridge m={m} />}
      <div class="split packets">
        <aside>
          <div class="bar">
            <input
              type="search"
              aria-label="find messages"
              placeholder="find: host-4 dp"
              value={text}
              onInput={(e) => set({ text: e.currentTarget.value || undefined, message: undefined })}
              hidden={alone}
            />
            {qp !== undefined && (
              <button onClick={() => set({ qp: undefined, message: undefined })}>queue pair {qp} ✕</button>
            )}
          </div>
          <List list={list} count={data.count} chosen={m} all={qp !== undefined || text !== ""} />
        </aside>
        <div>
          {m && !alone && mine.length === 0 && <Follow info={info} m={m} first />}
          {mine.length > 0 && (
            <div class="panel" data-testid="followed">
              <div class="head">
                <h2>Followed packets, hop by hop</h2>
                <WaterfallKey />
              </div>
              {mine.map((p) =>
                (p.copies ?? []).length === 0 ? (
                  <p class="note">{missing(p.asked)}</p>
                ) : (
                  <>
                    {alike(p.copies ?? []).map((same) => (
                      <Waterfall info={info} p={p} c={same[0]} last={same[same.length - 1]} times={same.length} />
                    ))}
                    {!!p.more && <p class="note">{f.count(p.more)} more copies were not followed.</p>}
                  </>
                ),
              )}
            </div>
          )}
          {m && <Path info={info} m={m} at={place.args.has("at") ? arg("at") : undefined} />}
          {others > 0 && (
            <p class="note">
              {f.plural(others, "packet")} of other queue pairs {others === 1 ? "was" : "were"} followed:{" "}
              {[...new Set((followed.data?.packets ?? []).filter((p) => m && p.qp !== m.qp).map((p) => p.qp))].map((n) => (
                <button class="plain" onClick={() => set({ qp: n, message: undefined, text: undefined })}>
                  queue pair {n}
                </button>
              ))}
            </p>
          )}
          {m && !alone && mine.length > 0 && <Follow info={info} m={m} first={false} />}
        </div>
      </div>
      {!byFlow(info) && <Captured info={info} />}
    </section>
  );
}

const took = (m: Message) => m.done_ps - m.posted_ps;

/** holds reports whether a followed packet is one of a message's. */
function holds(m: Message, p: Journeys["packets"][number]): boolean {
  if (p.qp !== m.qp || p.first_psn === undefined) return false;
  const n = (p.psn - p.first_psn + 2 ** 24) % 2 ** 24;
  return n >= m.first_packet && n < m.first_packet + m.packets;
}

/** missing says why a packet to follow has no trace. */
function missing(asked: string): string {
  const qp = asked.split("/")[0];
  if (asked.includes("/marked")) return `No marked packet of queue pair ${qp} arrived.`;
  if (asked.includes("/paused")) return `No packet of queue pair ${qp} reached a port with its class paused.`;
  return `Packet ${asked} did not leave a NIC in this run.`;
}

/** Bridge is a message's time as a bar: its ideal, alone on its path, and what is above. */
function Bridge({ m }: { m: Message }) {
  if (m.done_ps < 0) return null;
  const part = (key: string, name: string, above: boolean) => {
    const causes = m.parts.filter((p) => p.above === above);
    return { key, name, time_ps: causes.reduce((n, c) => n + c.time_ps, 0), causes };
  };
  const parts = [part("transfers", "Ideal", false), part("above", "Above ideal", true)];
  return (
    <div data-testid="bridge">
      <StepBar
        parts={parts.filter((p) => p.time_ps > 0)}
        causes={m.parts.map((c) => ({ key: c.key, name: c.name, color: "", about: c.name }))}
        step={took(m)}
        main={m.leading}
      />
    </div>
  );
}

/** finding says of a message what it took, and against what. */
function finding(m: Message): string {
  const size = `${f.whole(m.from)} → ${f.whole(m.to)}, ${f.bytes(m.bytes)}`;
  if (m.done_ps < 0) return `${size}: not complete when the run ended.`;
  const over = m.ideal_ps > 0 && took(m) > 1.05 * m.ideal_ps;
  return `${size} in ${f.time(took(m))}${over ? `, ${f.digits(took(m) / m.ideal_ps)} × its ideal time` : ", its ideal time"}.`;
}

/** above is a message's time above its ideal time, by which the server sorts messages. */
const above = (m: Message) => took(m) - m.ideal_ps;

/** pairsOf is the slowest message of each pair of GPUs with how many of its messages are listed; of a search every one. */
function pairsOf(list: Message[], all: boolean): [Message, number][] {
  const by = new Map<string, [Message, number]>();
  for (const m of list) {
    const key = all ? String(m.message) : `${m.from} ${m.to}`;
    const have = by.get(key);
    if (have) have[1]++;
    else by.set(key, [m, 1]);
  }
  return [...by.values()].slice(0, 100);
}

/** List is the messages to pick from, the slowest first. */
function List({ list, count, chosen, all }: { list: Message[]; count: number; chosen?: Message; all: boolean }) {
  const rows = pairsOf(list, all);
  const each = list.length > 0 && list.every((m) => m.bytes === list[0].bytes) ? list[0].bytes : undefined; // no column then
  return (
    <>
      <div class="pickbox" tabIndex={0} role="region" aria-label="messages">
        <table class="tight" data-testid="messages">
          <thead>
            <tr>
              <th>message</th>
              {each === undefined && <th class="n">size</th>}
              <th class="n">time</th>
              <th class="n" title="time above its ideal time, alone on its path: the order of this list">above ideal ↓</th>
              <th class="n">× ideal</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([m, n]) => (
              <tr class={m === chosen ? "chosen" : ""}>
                <td>
                  <button class="plain" aria-pressed={m === chosen} onClick={() => set({ message: m.message })}>
                    {m.from} → {m.to}
                  </button>{" "}
                  {n > 1 && (
                    <button class="plain" title="list all of them" onClick={() => set({ text: `${m.from} ${m.to}`, message: m.message })}>
                      × {n}
                    </button>
                  )}
                </td>
                {each === undefined && <td class="n">{f.bytes(m.bytes)}</td>}
                <td class="n">{m.done_ps < 0 ? "–" : f.time(took(m))}</td>
                <td class="n">{m.done_ps < 0 ? "–" : f.time(Math.max(0, above(m)))}</td>
                <td class="n">{m.done_ps < 0 || m.ideal_ps <= 0 ? "–" : f.digits(took(m) / m.ideal_ps)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="note">
        {f.plural(count, "message")}
        {each !== undefined && ` of ${f.bytes(each)}`}
        {count > list.length && `, the ${f.count(list.length)} slowest listed`}
        {rows.length < list.length ? (all ? ", the first 100" : ", the slowest of each pair") : ", the slowest first"}
      </p>
    </>
  );
}

/** ports are what is captured of a queue pair: its NIC's ports, and the one where its packets waited longest. */
function ports(info: Info, qp?: QPView): string[] {
  if (!qp) return [];
  const nic = info.topology.nics.find((n) => n.name === qp.qp.from);
  const own = (nic?.links ?? []).slice(0, 4).map((l) => {
    const cable = info.topology.links[l];
    return info.ports[cable.a === nic!.host ? cable.from_a : cable.from_b];
  });
  const hot = [...(qp.path ?? [])].sort((a, b) => b.wait_ps - a.wait_ps)[0];
  return [...own.map((p) => p.name), hot && info.ports[hot.port].name]
    .filter((n): n is string => !!n)
    .map((n) => n.split(" → ")[0])
    .filter((n, i, all) => all.indexOf(n) === i);
}

/** Path is where the packets of a message's queue pair wait, hop by hop. */
function Path({ info, m, at }: { info: Info; m: Message; at?: number }) {
  const { data } = useData(m.qp < 0 ? null : () => view<QPView>(info.name, `qp?id=${m.qp}`), [info.name, m.qp]);
  if (!data) return null;
  const path = ordered(info, data.path ?? []);
  const most = Math.max(1, ...path.map((p) => p.wait_ps / Math.max(1, p.packets)));
  const q = data.qp;
  return (
    <div class="panel" data-testid="path">
      <h2>
        Queue pair {q.qp}: {q.from} → {q.to}
      </h2>
      <p class="note">
        {byFlow(info)
          ? q.messages > 1 && `${f.plural(q.messages, "message")}, this one from ${f.time(m.posted_ps)} on.`
          : `${f.plural(m.packets, "packet")} from ${f.time(m.posted_ps)}, packets ${f.count(m.first_packet)} to ` +
            `${f.count(m.first_packet + m.packets - 1)} of the queue pair. ${f.plural(q.messages, "message")}, ` +
            `${f.count(q.ce_marked_packets)} marked, ${f.plural(q.rate_cuts, "rate reduction")}, ${f.count(q.retransmitted_packets)} retransmitted.`}
      </p>
      {byFlow(info) ? (
        <Met info={info} m={m} at={at} />
      ) : path.length === 0 ? (
        <p class="note">
          {(info.summary.fidelity ?? "packet") === "packet"
            ? "No packet of it waited in a queue of a switch."
            : `Fidelity ${info.summary.fidelity} records no path of it; --set fidelity=packet does.`}
        </p>
      ) : (
        <>
        <h3>Mean queue wait of its packets, hop by hop, and the longest queue that they met</h3>
        <ol class="fallish">
          {path.map((p) => {
            const wait = p.wait_ps / Math.max(1, p.packets);
            return (
              <li>
                <a href={address(["run", info.name, "fabric"], { metric: "queue", port: p.port, qp: q.qp })}>
                  {info.ports[p.port].name}
                </a>
                <span class="track">
                  <i style={{ width: `${(100 * wait) / most}%`, background: "var(--q-mid)" }} />
                </span>
                <span class="n">{f.time(wait)}</span>
                <span class="note">{p.queue_peak_bytes > 0 && `met ${f.bytes(p.queue_peak_bytes)}`}</span>
              </li>
            );
          })}
        </ol>
        <Met info={info} m={m} at={at} />
        </>
      )}
    </div>
  );
}

/** Met is what a message's packets met where they waited longest, a little before and after it. */
function Met({ info, m, at }: { info: Info; m: Message; at?: number }) {
  const end = m.done_ps < 0 ? info.span_ps : m.done_ps;
  const room = 0.08 * (end - m.posted_ps);
  return (
    <Passage
      info={info}
      qp={m.qp}
      from={Math.max(0, m.posted_ps - room)}
      to={Math.min(info.span_ps, end + room)}
      at={at}
      span={[m.posted_ps, end]}
    />
  );
}

/** Follow runs the scenario again until the message has ended, with its packets followed and captured. */
function Follow({ info, m, first }: { info: Info; m: Message; first: boolean }) {
  const qp = useData(m.qp < 0 ? null : () => view<QPView>(info.name, `qp?id=${m.qp}`), [info.name, m.qp]);
  const why = unfollowable(info);
  if (byFlow(info)) return <NotSimulated info={info} what="packets, queues, marks and retransmissions" />;
  if (why) return <p class="note">{why}</p>;
  if (m.qp >= 0 && !qp.data && !qp.error) return null; // its path decides on choices and ports: none may change under a click
  const tapped = ports(info, qp.data);
  const q = qp.data?.qp;
  const paused = (qp.data?.path ?? []).some((p) => info.ports[p.port].paused_ps > 0);
  const trace = traced(info, m, tapped);
  const choices: [string, Trace][] = [
    ["Follow the longest wait", searched(trace, m, "longest-wait")],
    ...(q && q.ce_marked_packets > 0 ? [["a marked packet", searched(trace, m, "marked")] as [string, Trace]] : []),
    ...(paused ? [["a paused packet", searched(trace, m, "paused")] as [string, Trace]] : []),
    ["first, middle and last", trace],
  ];
  return (
    <Rerun
      info={info}
      choices={choices}
      says={`Simulates the scenario again until ${f.time(trace.to_ps)}${tapped.length > 0 ? ` and captures ${tapped.join(", ")}` : ""}.`}
      to={(run) => address(["run", run, "packet"], { qp: m.qp, message: m.message })}
      primary={first}
    />
  );
}
