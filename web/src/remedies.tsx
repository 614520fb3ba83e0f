import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import type { Answer, Info, Simulation, Variant } from "./api";
import type { Remedy } from "./contract";
import { names } from "./causes";
import * as f from "./format";
import { address, useData } from "./state";

const same = (a: string[] | undefined, b: string[] | undefined) =>
  [...(a ?? [])].sort().join("\n") === [...(b ?? [])].sort().join("\n");

export interface Card {
  remedy: Remedy;
  done?: Variant;
  job?: Simulation;
  /** What it saves: of a complete run of it, or at most. */
  saves: number;
}

const least = 0.01; // of the step: what a remedy that was not run has to save to have a card

/** useCards is the remedies with what became of their variants: first those that were run and are worth a card, then by
 * saving; of equal ones what can be run before advice in words. */
export function useCards(info: Info, data?: Answer) {
  const alone = api.standalone();
  const [tick, again] = useState(0);
  const jobs = useData(alone ? null : api.jobs, [tick]);
  const mine = (jobs.data ?? []).filter((j) => j.of === info.name);
  const running = mine.filter((j) => j.state === "running").length;
  const variants = useData(alone ? null : () => api.variants(info.name), [info.name, running]);
  useEffect(() => {
    if (running === 0) return;
    const timer = setInterval(() => again((t) => t + 1), 700);
    return () => clearInterval(timer);
  }, [running > 0]);
  const cards: Card[] = (data?.remedies ?? []).map((remedy) => {
    const done = (variants.data ?? []).find((v) => remedy.set && same(v.sets, remedy.set));
    return {
      remedy,
      done,
      job: mine.find((j) => same(j.sets, remedy.set)),
      saves: done ? info.summary.step_time_ps - done.step_time_ps : remedy.tried ? remedy.saved_ps! : remedy.expected_ps,
    };
  });
  const good = (c: Card) => Number(known(c) && c.saves >= least * info.summary.step_time_ps);
  return cards.sort((a, b) => good(b) - good(a) || b.saves - a.saves || Number(!!b.remedy.set) - Number(!!a.remedy.set));
}

/** known reports whether a card's saving is that of a simulation with the remedy, and no upper limit. */
const known = (c: Card) => !!c.done || !!c.remedy.tried;

/** limitOf is the source of what a remedy saves at best: the account of the step has the same for its cause. */
function limitOf(r: Remedy): string {
  if (r.limit) return "busiest NIC";
  if (r.cause === "other_setting") return "run with it";
  return r.simulated ? `run without ${names.find(([k]) => k === r.cause)?.[1] ?? r.cause}` : "estimate";
}

/** by is limitOf in a sentence: a remedy saves what a run without its cause does only if it removes all of it. */
const by = (r: Remedy) => (r.limit ? ", limited by the busiest NIC" : r.cause === "other_setting" ? "" : ", if it removes the cause; not simulated");

/** cardsOf is the remedies worth a card, up to three that are shown, and the others. */
export function cardsOf(cards: Card[], step: number) {
  const all = cards.filter((c) => (c.done ? c.saves > 0 : c.saves >= least * step));
  return { good: all.slice(0, 3), more: all.slice(3) };
}

/** largest is the largest saving of remedies in words, and its share of the step: of a run, else an upper limit. */
export function largest(cards: Card[], step: number): string {
  const first = (list: Card[]) => list.sort((a, b) => b.saves - a.saves)[0];
  const done = first(cards.filter((c) => (c.done ? c.saves > 0 : c.remedy.tried && c.saves >= least * step)));
  const best = first(cards.filter((c) => !known(c) && c.remedy.set && c.saves >= Math.max(least * step, done?.saves ?? 0)));
  const figure = (c: Card) => `${f.time(c.saves)} (${f.percent(c.saves / step)})`;
  const untried = best && `${best.remedy.says}, at best ${figure(best)}${by(best.remedy)}`;
  if (!done) return untried ? `Largest saving: ${untried}.` : "";
  return `Largest simulated saving: ${done.remedy.says}, ${figure(done)}.${untried ? ` ${f.begin(untried)}.` : ""}`;
}

/** Remedies are up to three things to change, with what each saves: the figure of a complete run of it, or an upper
 *  limit, marked as an estimate. */
export function Remedies({ info, cards, step, beside }: { info: Info; cards: Card[]; step: number; beside?: ComponentChildren }) {
  const alone = api.standalone();
  const [error, fail] = useState("");
  const { good, more } = cardsOf(cards, step);
  const small = cards.filter((c) => !c.done && c.saves < least * step).sort((a, b) => b.saves - a.saves)[0];
  const first = good.find((c) => c.remedy.set);
  const worse = cards.filter((c) => c.done && c.saves <= 0);
  if (cards.length === 0) return beside ? <div class="row">{beside}</div> : null;
  const run = (set: string[]) =>
    api.startVariant(info.name, set).then(
      (j) => {
        location.hash = address(["compare"], { runs: info.name, job: j.id });
      },
      (e: Error) => fail(e.message),
    );
  return (
    <>
      <div class="head">
        <h2>What would shorten it</h2>
      </div>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {good.length === 0 && worse.length === 0 && small && (
        <p class="note" data-testid="small">
          No known remedy saves 1 % of the step: {small.remedy.says} {known(small) ? "" : "at best "}{f.percent(Math.max(0, small.saves) / step)}{known(small) ? "" : by(small.remedy)}.
        </p>
      )}
      <div class="grid3" data-testid="remedies">
        {good.map((c) => (
          <article class="card">
            <h3>{f.begin(c.remedy.says)}</h3>
            <Saving c={c} step={step} />
            {c.remedy.needs && <p>Needs {c.remedy.needs}.</p>}
            {c.remedy.set && <code>{c.remedy.set.map((x) => "--set " + x).join(" ")}</code>}
            <div class="foot">
              <State c={c} />
              {c.done ? (
                <a
                  class={`button ${c === first ? "primary" : ""}`}
                  href={address(["compare"], { runs: `${info.name},${c.done.run}` })}
                >
                  Compare
                </a>
              ) : c.job?.state === "running" ? (
                <a class="button" href={address(["compare"], { runs: info.name, job: c.job.id })}>
                  Follow
                </a>
              ) : (
                c.remedy.set &&
                !alone && (
                  <button class={c === first ? "button primary" : ""} onClick={() => run(c.remedy.set!)}>
                    Run this variant
                  </button>
                )
              )}
            </div>
          </article>
        ))}
        {beside}
      </div>
      {more.length > 0 && (
        <p class="note" data-testid="ties">
          More:{" "}
          {more.map((d, i) => (
            <>
              {i > 0 && "; "}
              {d.done ? (
                <a href={address(["compare"], { runs: `${info.name},${d.done.run}` })}>{d.remedy.says}</a>
              ) : d.remedy.set && !alone ? (
                <button class="plain" title={`run --set ${d.remedy.set.join(" --set ")}`} onClick={() => run(d.remedy.set!)}>
                  {d.remedy.says}
                </button>
              ) : (
                d.remedy.says
              )}{" "}
              {known(d) ? f.change(-d.saves) : `at best ${f.time(d.saves)}`}
            </>
          ))}
        </p>
      )}
      {worse.map((c) => (
        <p class="note">
          No gain: <code>{(c.remedy.set ?? []).join(" ")}</code> finishes {f.time(-c.saves)} later (
          <a href={address(["compare"], { runs: `${info.name},${c.done!.run}` })}>compare</a>).
        </p>
      ))}
    </>
  );
}

/** Saving is the figure of a complete run and a bar from 0 to the step, or the upper limit and its reason. */
function Saving({ c, step }: { c: Card; step: number }) {
  const share = c.saves / step;
  if (!known(c))
    return (
      <>
        <p class="saves" data-saves={c.saves}>
          <small>at best</small> {f.time(c.saves)} <small>{f.percent(share)}</small> <b class="tag">{limitOf(c.remedy)}</b>
        </p>
        <div class="meter estimate" aria-hidden="true">
          <i style={{ width: `${100 * Math.min(1, share)}%` }} />
        </div>
        {c.remedy.limit ? (
          <p class="note">{c.remedy.limit}.</p>
        ) : (
          c.remedy.set && c.remedy.cause !== "other_setting" && <p class="note">If it removes the whole cause; the remedy itself is not simulated.</p>
        )}
      </>
    );
  return (
    <>
      <p class="saves" data-saves={c.saves}>
        {f.change(-c.saves)} <small>{f.changePercent(-share)}</small>
      </p>
      <div class="meter" aria-hidden="true">
        <i style={{ width: `${100 * Math.min(1, share)}%` }} />
      </div>
    </>
  );
}

function State({ c }: { c: Card }) {
  const j = c.job;
  const [kind, words] = c.done
    ? ["complete", `complete · ${f.time(c.done.step_time_ps)}`]
    : j?.state === "running"
      ? ["running", `running${j.total_bytes > 0 ? ` · ${f.percent(j.delivered_bytes / j.total_bytes)}` : ""}`]
      : j?.state === "failed"
        ? ["failed", `failed: ${j.error?.slice(0, 120)}`]
        : ["", c.remedy.tried ? "simulated" : c.remedy.set ? "not run" : "advice"];
  return (
    <span class={`state ${kind}`}>
      <i />
      {words}
    </span>
  );
}
