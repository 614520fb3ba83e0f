import { useEffect } from "preact/hooks";
import type { Journeys, Messages, Sequence, Told } from "./contract";
import { type Info, standalone, view } from "./api";
import { slowestOf } from "./causes";
import { byFlow } from "./flow";
import * as f from "./format";
import { Rerun, traced, unfollowable } from "./rerun";
import { useWidth } from "./stepbar";
import { address, here, set, useData } from "./state";

const widest = 168; // from lane to lane
const narrowest = 86;
const high = 40; // of a step
const times = 84; // room for them on the left
const head = 34;

/** useSequence is a sequence of the run, or why it has none. */
export const useSequence = (info: Info, name: string) =>
  useData(name === "" ? null : () => view<Told>(info.name, `sequence?name=${encodeURIComponent(name)}`), [info.name, name]);

/** rings reports whether a collective of a run is a ring's all-reduce. */
export const rings = (info: Info) => (info.summary.collectives ?? []).some((c) => c.kind === "all-reduce" && c.algorithm === "ring");

/** possible reports whether a run has what a sequence is of, as far as its summary knows. */
export function possible(info: Info, name: string): boolean {
  const s = info.summary;
  if (name === "rank") return true;
  if (name === "ring") return rings(info);
  if (byFlow(info)) return false;
  return name === "mark" ? s.cnps > 0 : name === "pause" ? s.pfc_pauses > 0 : name === "nak" ? s.naks + s.drops > 0 : true;
}

/** Sequences shows a part of the run as a sequence diagram, step by step. */
export function Sequences(props: { info: Info; name: string; data?: Told; error?: string; at: number }) {
  const { info, name, error, at } = props;
  const any = useSequence(info, name === "" ? "rank" : ""); // for the names of all
  const data = props.data ?? any.data;
  const traces = useData(() => view<Journeys>(info.name, "followed"), [info.name]);
  const followedAny = !traces.data || traces.data.packets.length > 0;
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="loading">Loading the sequence…</p>;
  return (
    <section class="sequences" aria-label="Sequences of this run">
      <div class="bar" role="group" aria-label="Sequence">
        <h3 class="whole">{name === "" ? "Sequences of this run" : "In this run, step by step"}</h3>
        {data.names.map((n, i) => (!possible(info, n) && n !== name ? null : (
          <button
            aria-pressed={n === name}
            title={data.shows[i]}
            onClick={() => set({ sequence: n, step: undefined })}
          >
            {n}
          </button>
        )))}
      </div>
      {name === "" ? (
        !followedAny && !standalone() && <Followed info={info} name="packet" />
      ) : data.sequence ? (
        <Diagram key={`${info.name} ${name}`} s={data.sequence} at={at} />
      ) : (
        <>
          <p class="note" data-testid="why">
            <span title={data.why}>
              {followed.has(name) && !followedAny && !unfollowable(info)
                ? "This run followed no packet. One that does shows this scene with its own QPNs, PSNs, keys and times."
                : `${f.begin(data.why.split(": run its scenario")[0])}.`}
            </span>
          </p>
          {followed.has(name) && !standalone() && <Followed info={info} name={name} />}
        </>
      )}
    </section>
  );
}

/** followed are the sequences of packets that a run has to follow. */
const followed = new Set(["setup", "packet", "hosts", "completion"]);

/** Followed runs the scenario again until its slowest message has ended, with that followed. */
function Followed({ info, name }: { info: Info; name: string }) {
  const { data } = useData(() => view<Messages>(info.name, "messages"), [info.name]);
  const m = slowestOf(info, (data?.messages ?? []).filter((x) => x.done_ps > 0));
  if (unfollowable(info) || !m) return null;
  const trace = traced(info, m, []);
  const chapter = here().args.get("chapter") ?? undefined;
  return (
    <Rerun
      info={info}
      choices={[["Follow the slowest message and run again", trace]]}
      says={`Same scenario and seed, until ${f.time(trace.to_ps)}: ${m.from} → ${m.to}, ${f.bytes(m.bytes)}.`}
      to={(run) => address(["run", run, "life"], { chapter, sequence: name })}
      primary
    />
  );
}

/** Diagram draws lanes and steps up to the one that the scrubber stands at. */
function Diagram({ s, at }: { s: Sequence; at: number }) {
  const last = s.steps.length;
  const { box, width } = useWidth(780);
  // A long sequence moves in its own box: the step that is drawn last stays in sight while it plays.
  useEffect(() => {
    const el = box.current;
    if (!el || at === last || s.chart) return;
    const y = head + high * rowsOf(s)[at - 1 < 0 ? 0 : at - 1];
    if (y > el.scrollTop + el.clientHeight || y < el.scrollTop) el.scrollTop = Math.max(0, y - el.clientHeight + 2 * high);
  }, [at]);
  return (
    <>
      <h4>{s.title}</h4>
      <div ref={box} class="scroll tall" tabIndex={0} role="region" aria-label={s.title}>
        {s.chart ? <Chart s={s} at={at} room={width} /> : <Drawing s={s} at={at} room={width} />}
      </div>
      {s.chart && s.steps.some(blocked) && <p class="hint">A thin line: posted, blocked on the previous chunk.</p>}
      {s.notes.map((n) => (
        <p class="hint">{n}</p>
      ))}
    </>
  );
}

/** short is the label of a bar: "A 2/4" is chunk A, the sum of 2 of 4 ranks. */
const short = (label: string) =>
  label.replace("chunk ", "").replace(/, sum of (\d+) of (\d+)/, " $1/$2").replace(", whole sum", " whole").replace(", its own", "");

/** blocked reports whether a bar waits for its row's previous one for more than 1 % of its time. */
const blocked = (b: Sequence["steps"][number]) => 100 * (b.begin_ps - b.at_ps) > b.until_ps - b.at_ps;

/** Chart draws steps as bars on a time axis, in rows of their senders, up to the one that the scrubber stands at. */
function Chart({ s, at, room }: { s: Sequence; at: number; room: number }) {
  const rows = Math.max(...s.steps.map((x) => x.from)) + 1;
  const small = room < 560;
  const left = small ? 0 : 178;
  const high = small ? 48 : 40;
  const top = small ? 18 : 4; // of a bar in its row
  const from = s.steps[0].at_ps;
  const to = Math.max(...s.steps.map((x) => x.until_ps), from + 1);
  const x = (ps: number) => left + ((ps - from) / (to - from)) * (room - left - 2);
  const bottom = rows * high + 4;
  return (
    <svg class="ringchart" width={room} height={bottom + 20} role="img" aria-label={`${s.title}: ${s.steps.length} transfers over time`}>
      {f.axis(from, to, 6).map((t) => (
        <>
          <path class="grid" d={`M${x(t.at)} 0V${bottom}`} />
          <text class="when" x={x(t.at)} y={bottom + 15} text-anchor={x(t.at) > room - 30 ? "end" : x(t.at) < left + 20 ? "start" : "middle"}>
            {t.label}
          </text>
        </>
      ))}
      {Array.from({ length: rows }, (_, row) => {
        const y = row * high;
        const step = s.steps.find((b) => b.from === row)!;
        return (
          <text x={small ? 0 : left - 8} y={small ? y + 13 : y + 19} text-anchor={small ? "start" : "end"}>
            {`${s.lanes[row]} → ${s.lanes[step.to]}`}
          </text>
        );
      })}
      {s.steps.slice(0, at).map((b, i) => {
        const y = b.from * high + top;
        const wide = Math.max(1, x(b.until_ps) - x(b.begin_ps) - 1);
        const words = short(b.label);
        const label = [words, words.split(" ")[0]].find((w) => 6.6 * w.length + 6 < wide);
        return (
          <g class={`k-${b.kind}`}>
            <title>
              {`${b.label}, ${b.detail}: ${s.lanes[b.from]} → ${s.lanes[b.to]}, ${f.time(b.at_ps)} to ${f.time(b.until_ps)}, ${f.time(b.until_ps - b.at_ps)}`}
              {blocked(b) && `, ${f.time(b.begin_ps - b.at_ps)} of it blocked on the previous chunk`}
            </title>
            <rect x={x(b.begin_ps)} y={y} width={wide} height={22} fill={`var(--k-${b.group % 8})`} />
            {blocked(b) && <path class="queued" d={`M${x(b.at_ps)} ${y + 25}H${x(b.begin_ps)}`} />}
            {(i === s.slowest || (i === at - 1 && at < s.steps.length)) && <rect class="slow" x={x(b.begin_ps)} y={y} width={wide} height={22} />}
            {label && (
              <text x={x(b.begin_ps) + wide / 2} y={y + 15} text-anchor="middle">
                {label}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** rowsOf puts a rank's ways to its switch, which have no times, into one row. */
function rowsOf(s: Sequence): number[] {
  let row = -1;
  let spans: [number, number][] = [];
  return s.steps.map((x, i) => {
    const [a, b] = [Math.min(x.from, x.to), Math.max(x.from, x.to)];
    const along = s.timeless && x.from === s.steps[i - 1]?.to && x.from < x.to;
    if (!(along && a < b && spans.length > 0 && spans.every(([c, d]) => b <= c || a >= d))) {
      row++;
      spans = [];
    }
    if (a < b) spans.push([a, b]);
    return row;
  });
}

function Drawing({ s, at, room }: { s: Sequence; at: number; room: number }) {
  const small = room < 500;
  const left = s.timeless ? 8 : small ? 66 : times;
  const rows = rowsOf(s);
  const wide = Math.max(small ? 96 : narrowest, Math.min(widest, Math.floor((room - left) / s.lanes.length)));
  const x = (lane: number) => left + wide / 2 + wide * lane;
  const bottom = high * (rows[rows.length - 1] + 1) + 8;
  return (
    <>
    <svg class="sequence lanehead" width={left + wide * s.lanes.length} height={head} aria-hidden="true">
      {s.lanes.map((name, i) => (
        <text x={x(i)} y={small && name.includes("/") ? 13 : 20} class="lane">
          {small ? name.split("/")[0] : name}
          {small && name.includes("/") && (
            <tspan x={x(i)} dy={14}>
              {name.split("/")[1]}
            </tspan>
          )}
        </text>
      ))}
    </svg>
    <svg
      class="sequence"
      width={left + wide * s.lanes.length}
      height={bottom}
      role="img"
      aria-label={`${s.title}: ${s.steps.length} steps between ${s.lanes.join(", ")}`}
    >
      {s.lanes.map((name, i) => (
        <line key={name} x1={x(i)} x2={x(i)} y1={0} y2={bottom} class="life-line" />
      ))}
      {s.steps.slice(0, at).map((step, i) => {
        const y = high * rows[i] + 14;
        const from = x(step.from);
        const to = x(step.to);
        const own = step.from === step.to;
        const down = step.until_ps > step.at_ps ? y + 7 : y;
        const letters = 6.3 * Math.max(step.label.length, step.detail.length);
        const side = step.from > 0 && (step.from === s.lanes.length - 1 || (from + 10 + letters > left + wide * s.lanes.length && from - 10 > letters)) ? -1 : 1;
        const again = i > 0 && rows[i] === rows[i - 1] && step.detail === s.steps[i - 1].detail;
        const middle = own ? from + 10 * side : (from + to) / 2;
        const anchor = own ? (side > 0 ? "start" : "end") : "middle";
        const tip = Math.sign(to - from) * 7;
        return (
          <g class={`k-${step.kind} ${i === at - 1 ? "now" : ""}`}>
            {(i === 0 || (rows[i] !== rows[i - 1] && s.steps[i - 1].when !== step.when)) && (
              <text x={left - 8} y={y + 4} class="when">
                {step.when}
              </text>
            )}
            {own ? (
              <rect x={from - 4} y={y - 4} width={8} height={8} />
            ) : (
              <>
                <line x1={from} y1={y} x2={to} y2={down} />
                <path d={`M${to},${down} l${-tip},-4 v8 z`} />
              </>
            )}
            <text x={middle} y={own ? y + 1 : Math.min(y, down) - 4} text-anchor={anchor}>
              {step.label}
            </text>
            <text x={middle} y={own ? y + 14 : Math.max(y, down) + 11} text-anchor={anchor} class="detail">
              {again ? "" : step.detail}
            </text>
          </g>
        );
      })}
    </svg>
    </>
  );
}
