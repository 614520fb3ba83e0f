import type { Answer as Figures, Info } from "./api";
import type { CauseInfo, StepPart } from "./contract";
import { standalone, view } from "./api";
import { causeColour } from "./colour";
import { Details } from "./details";
import * as f from "./format";
import { Pictures } from "./moments";
import { type Card, cardsOf, largest, Remedies, useCards } from "./remedies";
import { address, useData } from "./state";
import { type Chosen, StepBar, idles } from "./stepbar";

/** Answer is what a run opens with: where the step's time went, what would shorten it, where to look. */
export function Answer({ info }: { info: Info }) {
  const { data, error } = useData(() => view<Figures>(info.name, "answer"), [info.name]);
  const cards = useCards(info, data);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="loading">Loading the account of the step…</p>;
  const s = info.summary;
  const step = Math.max(1, s.step_time_ps);
  const sum = (data.parts ?? []).reduce((n, p) => n + p.time_ps, 0);
  // The losses stand in a free place of the rows of cards, or below them where they are many.
  const few = (data.rows ?? []).length <= 4 && !data.bound && !data.idle && !data.gain;
  const shown = few ? cardsOf(cards, step).good.length || 4 : 4;
  const lost = <Lost data={data} step={step} />;
  return (
    <section aria-label="Answer" class="wrap">
      <p class="eyebrow" data-testid="figures">
        {s.outcome ? "Job" : "Step time"} <span data-testid="step-time">{f.time(s.step_time_ps)}</span>
        {s.steps && s.steps > 1 ? ` for ${f.count(s.steps)} steps, ${f.time(s.step_time_ps / s.steps)} each` : ""}
        {s.mfu ? ` · MFU ${f.percent(s.mfu)}` : ""}
        {lineRate(info)}
        {data.fidelity && (
          <b class="tag" title={data.method} data-testid="fidelity">
            {data.fidelity}
          </b>
        )}
      </p>
      <h1 data-testid="verdict">
        {verdict(info, data)}
      </h1>
      <p class="lede" data-testid="lede">
        <Lede info={info} data={data} cards={cards} />
      </p>
      {sum > 0 && (
        <StepBar
          {...(data.gain ? bounded(info, data, sum) : { parts: data.parts, causes: data.causes_present, main: data.losses?.[0]?.key })}
          step={sum}
          about={data.gain ? undefined : (s) => <About info={info} data={data} {...s} />}
        />
      )}
      <Remedies info={info} cards={cards} step={step} beside={shown < 3 && lost} />
      <Pictures info={info} data={data} beside={shown >= 3 && lost} />
      {data.gain && (
        <details class="more">
          <summary>Critical path by cause</summary>
          <StepBar parts={data.parts} causes={data.causes_present} step={sum} main={data.losses?.[0]?.key} />
        </details>
      )}
      {sum > 0 && (
        <p class="note" data-testid="seen">
          {data.gain
            ? "The bar is the time that the busiest NIC's payload takes, and the rest."
            : s.mfu
              ? "Parts of the bar are those of the rank that ends last, causes those of the critical path: the chain of operations that the end of the step waited for."
              : "The bar is the critical path: the chain of operations that the end of the step waited for."}{" "}
          Parts sum to {f.time(sum)}. {!s.mfu && seen(info)}
          {data.parts.some((p) => !["compute", "idle", "unfinished", ...idles].includes(p.key) && (p.causes ?? []).some(hidden(sum))) &&
            (s.mfu
              ? " Overlapped compute: computing of other ranks that this communication waits for."
              : " Overlapped compute: computing that this communication runs beside, and that a step without losses ends with.")}
        </p>
      )}
      <Details info={info} data={data} />
    </section>
  );
}

/** bounded is the bar of a run at its bound: what its busiest NIC needs, and what is left to gain. */
function bounded({ summary: s }: Info, a: Figures, sum: number): { parts: StepPart[]; causes: CauseInfo[] } {
  const nic = s.busiest_nic?.nic ?? "Busiest NIC";
  return {
    parts: [
      {
        key: "transfers",
        name: "Transfers",
        time_ps: sum,
        causes: [
          { key: "bound", time_ps: sum - a.left_ps },
          { key: "gain", time_ps: a.left_ps },
        ],
      },
    ],
    causes: [
      { key: "bound", name: `${nic} at line rate`, color: "", about: "the time that its payload takes at line rate" },
      { key: "gain", name: "to gain at most", color: "", about: "no change of the network saves more" },
    ],
  };
}

/** About says of a segment of the bar what it is, what a run without it saves, and where it is. */
function About({ info, data, part, cause, ps }: { info: Info; data: Figures } & Chosen) {
  const row = (data.rows ?? []).find((r) => r.key === cause.key && r.saves);
  const place = info.summary.places?.find((p) => p.cause === cause.key);
  return (
    <>
      <b>
        {["idle", ...idles].includes(part.key) ? part.name : `${part.name}: ${cause.key === "compute" && part.key !== "compute" ? "overlapped compute" : cause.name}`}, {f.time(ps)}
      </b>{" "}
      ({f.percent(ps / Math.max(1, info.summary.step_time_ps))}). {part.key === "idle" ? "Nothing of this job runs before" : idles.includes(part.key) ? "The rank that ends last waits for others" : f.begin(cause.about)}.
      {row && ` A run without it ${row.saves}.`}
      {place && (
        <>
          {" "}
          Most of it at{" "}
          <a href={address(standalone() ? ["fabric"] : ["run", info.name, "fabric"], { port: place.port, at: place.at_ps })}>{place.name}</a>.
        </>
      )}
    </>
  );
}

/** hidden finds computing that the path of a step without losses would have instead. */
const hidden = (sum: number) => (c: { key: string; time_ps: number }) => c.key === "compute" && c.time_ps >= 0.01 * sum;

/** lineRate is the slowdown of messages at random times, or the share of line rate of the busiest NIC or pipe of a run
of one collective. */
function lineRate({ summary: s }: Info): string {
  const [c, ...more] = s.collectives ?? [];
  const slow = s.flow_completion_ps?.slowdown;
  if (slow) return ` · slowdown of messages ${f.digits(slow.mean)}\u00a0× (p99 ${f.digits(slow.p99)}\u00a0×)`;
  if (s.mfu || !c || c.uneven || more.length > 0 || !c.bound_bytes_per_second) return "";
  const share = Math.round((100 * c.busbw_bytes_per_second) / c.bound_bytes_per_second);
  return ` · busiest ${c.bound_by} at ${share}\u00a0% of line rate`;
}

/** Lost is the time above line rate by cause, row by row as the terminal prints it. */
function Lost({ data, step }: { data: Figures; step: number }) {
  const rows = data.rows ?? [];
  const below = data.below ?? [];
  const notes = [...(data.bound ? [data.bound] : []), ...(data.idle ?? [])].map((text) => (
    <p class="note" data-testid="bound">
      {text}
    </p>
  ));
  if (rows.length + below.length + notes.length === 0) return null;
  return (
    <div class="losses" data-testid="losses">
      {notes}
      {rows.length + below.length > 0 && (
        <h2>
          Time above line rate on the critical path: {f.time(data.lost_ps)}
          {data.gain && `; the bound includes ${f.time(data.lost_ps - data.left_ps)}`}
        </h2>
      )}
      <table class="tight">
        <tbody>
          {rows.map((x) => (
            <tr class={x.after ? "inner" : ""}>
              <td>
                {!x.after && <i class="swatch" style={{ background: causeColour(x.key) }} />}
                {x.name}
              </td>
              <td class="n">{f.time(x.time_ps)}</td>
              <td class="n">{f.percent(x.time_ps / step)}</td>
              <td>{x.saves}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {below.length > 0 && (
        <p class="note">below 0.5 %: {below.map((x) => `${x.name} ${f.time(x.time_ps)}`).join(", ")}</p>
      )}
    </div>
  );
}

/** costOf is what a cause costs, in titles of all views, and words for the time of CC recovering in it. */
export function costOf({ summary: s }: Info, loss: Figures["losses"][number]): [number, string] {
  return [loss.own_ps + loss.reaction_ps, loss.reaction_ps >= 0.005 * s.step_time_ps ? `, ${f.time(loss.reaction_ps)} of it CC recovering` : ""];
}

/** verdict is the answer in one sentence. */
function verdict(info: Info, a: Figures): string {
  const s = info.summary;
  if (s.outcome) {
    const lost = (s.outcome.cut_off ?? []).length;
    return `Job fails at ${f.time(s.outcome.at_ps)}${lost > 0 ? `: ${f.plural(lost, "GPU")} isolated` : ""}.`;
  }
  if ((s.closed_chains?.standing ?? 0) > 0) return "Deadlock: paused ports wait for one another.";
  if (!s.complete) return `Incomplete: recorded until ${f.time(s.step_time_ps)}.`;
  const [c] = s.collectives ?? [];
  if (a.gain && s.busiest_nic)
    return `${f.whole(s.busiest_nic.nic)} is the limit, at ${Math.round((100 * c.busbw_bytes_per_second) / c.bound_bytes_per_second)}\u00a0% of line rate: at most ${f.time(a.left_ps)} (${f.percent(a.left_ps / Math.max(1, s.step_time_ps))}) to gain.`;
  if (a.at_bound && c)
    return `${Math.round((100 * c.busbw_bytes_per_second) / c.bound_bytes_per_second)}\u00a0% of line rate, bound by ${c.bound_by}.`;
  const share = (ps: number) => `${f.time(ps)} (${f.percent(ps / Math.max(1, s.step_time_ps))})`;
  const [first] = a.losses ?? [];
  if (a.main && !a.main.startsWith(first?.name ?? "–")) return `Main cause: ${a.main}.`;
  if (!first) return "No contention: the step computes, or sends at line rate.";
  const lost = [...a.losses, ...(a.minor ?? [])].reduce((n, x) => n + x.own_ps + x.reaction_ps, 0);
  if (!a.main && lost >= 0.02 * s.step_time_ps) return `${share(lost)} above line rate, and no cause whose removal alone saves time.`;
  const [ps, after] = costOf(info, first);
  if (lost < 0.02 * s.step_time_ps)
    return `${f.percent(1 - lost / s.step_time_ps)} of the step computes or sends at line rate; ${first.name} takes ${share(ps)}.`;
  if (a.failure)
    return `Link ${f.whole(a.failure.link)} fails at ${f.time(a.failure.down_ps)}: ${first.name} ${f.verb(first.name, "put")} ${share(ps)} on the critical path${after}.`;
  // A name stays on one line; the port's peer is in the details.
  const where = a.place ? ` at ${f.whole(a.place.name.split(" → ")[0])}` : "";
  return `${f.begin(first.name)}${where} ${f.verb(first.name, "cost")} ${f.time(ps)} (${f.percent(ps / Math.max(1, s.step_time_ps))} of the ${s.mfu ? "step" : "time"}).`;
}

/** losing says what a failed link loses, and until when. */
export const losing = ({ drops, routes_ps, up_ps }: NonNullable<Figures["failure"]>) =>
  `It loses ${f.plural(drops, "packet")} until ${routes_ps < up_ps ? `routes leave it at ${f.time(routes_ps)}` : f.time(up_ps)}`;

/** broken says which links were down, and what they lost; "" if none. */
function broken(s: Info["summary"]): string {
  const down = (s.link_events ?? []).filter((e) => e.change === "down");
  if (down.length === 0) return "";
  const [e] = down;
  const up = (s.link_events ?? []).find((x) => x.link === e.link && x.change === "up" && x.at_ps > e.at_ps);
  const others = new Set(down.map((x) => x.link)).size - 1;
  const lost = s.drops_link_down > 0 ? `; ${f.plural(s.drops_link_down, "packet")} lost on failed links` : "";
  return `${f.whole(e.link)} is down from ${f.time(e.at_ps)}${up ? ` to ${f.time(up.at_ps)}` : " on"}${others > 0 ? `, and ${f.plural(others, "other link")} at times` : ""}${lost}. `;
}

/** Lede says what saves most, and what the slowest message met at the place of the title. */
function Lede({ info, data, cards }: { info: Info; data: Figures; cards: Card[] }) {
  const s = info.summary;
  const place = data.place?.name;
  const failure = data.failure;
  const slow = s.slowest_flow;
  if (s.outcome) return <>{f.begin(s.outcome.why)}.</>;
  if (failure)
    return (
      <>
        {losing(failure)}
        {failure.qp >= 0 && (
          <>
            ;{" "}
            <a href={address(standalone() ? ["packet"] : ["run", info.name, "packet"], { qp: failure.qp })}>
              queue pair {failure.qp}
            </a>
            , {failure.from} → {failure.to}, retransmits {f.count(failure.retransmitted_packets)}
          </>
        )}
        . {largest(cards, s.step_time_ps)}
      </>
    );
  const [first] = data.losses ?? [];
  const after = first && !data.gain && costOf(info, first)[1];
  return (
    <>
      {broken(s)}
      {after && `${f.begin(after.slice(2))}. `}
      {data.reason && `${data.reason} `}
      {largest(cards, s.step_time_ps)}{" "}
      {slow && slow.ideal_ps > 0 && slow.time_ps > 1.05 * slow.ideal_ps && (
        <>
          {data.tied > 1 ? `${f.count(data.tied)} messages are equally slow; one,` : "The slowest message,"}{" "}
          <a href={address(standalone() ? ["packet"] : ["run", info.name, "packet"])}>
            {f.whole(slow.from)} → {f.whole(slow.to)}
          </a>
          , takes <b>{f.time(slow.time_ps)}</b>, {f.digits(slow.time_ps / slow.ideal_ps)} × its ideal time
          {slow.queue && slow.shared_with_count > 0 && (slow.queue === place || !place) && (
            <>
              ; it shares {place ? "that queue" : `the queue of ${slow.queue}`} with {f.plural(slow.shared_with_count, "other flow")}
            </>
          )}
          {place && slow.queue !== place && slow.paused_ps > 0 && (slow.paused_by ?? []).includes(place) && (
            <>; PFC from that port pauses its path for {f.time(slow.paused_ps)}</>
          )}
          .
        </>
      )}
    </>
  );
}

/** waitingFor names the rank that a step waited for, or the start of the work, as the terminal does. */
const waitingFor = ({ waited_for: all, waiting_ranks_ps: ps }: Info["summary"]) =>
  2 * (all ?? []).reduce((n, x) => n + x.waited_ps, 0) < (ps ?? 0)
    ? "waiting for the start of the work"
    : all?.length === 1 && !all[0].alike ? `waiting for rank ${all[0].rank}` : "waiting for other ranks";

/** seen is the step as the rank that ended last saw it, with what hides behind computing left out. */
function seen({ summary: s }: Info): string {
  const rows: [string, number | undefined][] = [
    ["compute", s.compute_ps],
    ["exposed TP", s.exposed_tp_ps],
    ["exposed PP", s.exposed_pp_ps],
    ["exposed DP", s.exposed_dp_ps],
    ["exposed EP", s.exposed_ep_ps],
    ["exposed CP", s.exposed_cp_ps],
    ["transfers and waits", s.exposed_other_ps],
    ["data loading", s.exposed_data_loading_ps],
    ["checkpoint", s.exposed_checkpoint_ps],
    ["host", s.exposed_host_ps],
    ["bubble", s.bubble_ps],
    [waitingFor(s), s.waiting_ranks_ps],
    [s.slow_ranks?.length === 1 ? `slow rank ${s.slow_ranks[0].rank}` : "slow ranks", s.slow_ranks_ps],
  ];
  const some = rows.filter(([, ps]) => ps);
  if (some.length < 2) return "";
  return `The rank that ends last sees ${some.map(([name, ps]) => `${name} ${f.time(ps!)}`).join(", ")}.`;
}
