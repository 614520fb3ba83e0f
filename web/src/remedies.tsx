import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import type { Answer, Info, Simulation, Variant } from "./api";
import type { Remedy } from "./contract";
import * as f from "./format";
import { address, useData } from "./state";

const same = (a: string[] | undefined, b: string[] | undefined) =>
  [...(a ?? [])].sort().join("\n") === [...(b ?? [])].sort().join("\n");

interface Card {
  remedy: Remedy;
  done?: Variant;
  job?: Simulation;
  /** What it saves: of a complete run of it, or at most. */
  saves: number;
}

/** Remedies are up to three things to change, with what each saves: the figure of a complete run of it, or an upper
 *  limit in words. */
export function Remedies({ info, data, step }: { info: Info; data: Answer; step: number }) {
  const alone = api.standalone();
  const [tick, again] = useState(0);
  const jobs = useData(alone ? null : api.jobs, [tick]);
  const mine = (jobs.data ?? []).filter((j) => j.of === info.name);
  const running = mine.filter((j) => j.state === "running").length;
  const variants = useData(alone ? null : () => api.variants(info.name), [info.name, running]);
  const [error, fail] = useState("");
  useEffect(() => {
    if (running === 0) return;
    const timer = setInterval(() => again((t) => t + 1), 700);
    return () => clearInterval(timer);
  }, [running > 0]);
  const cards: Card[] = (data.remedies ?? []).map((remedy) => {
    const done = (variants.data ?? []).find((v) => remedy.set && same(v.sets, remedy.set));
    return {
      remedy,
      done,
      job: mine.find((j) => same(j.sets, remedy.set)),
      saves: done ? info.summary.step_time_ps - done.step_time_ps : remedy.expected_ps,
    };
  });
  // A run's figure before the model's, then by saving; of equal ones what can be run before advice in words.
  const good = cards
    .filter((c) => !(c.done && c.saves <= 0))
    .sort((a, b) => Number(!!b.done) - Number(!!a.done) || b.saves - a.saves || Number(!!b.remedy.set) - Number(!!a.remedy.set))
    .slice(0, 3);
  const first = good.find((c) => c.remedy.set);
  const worse = cards.filter((c) => c.done && c.saves <= 0);
  if (cards.length === 0) return null;
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
      </div>
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
  if (!c.done && share < 0.0005)
    return c.remedy.set ? (
      <p class="hint">
        {c.remedy.simulated ? "A run without the cause takes as long" : "The estimate sees no saving alone"}: other
        causes take its place.
      </p>
    ) : null;
  if (!c.done)
    return (
      <p class="note" data-saves={c.saves}>
        Saves at most {f.time(c.saves)} ({f.percent(share)}){c.remedy.limit && `: ${c.remedy.limit}`}.
      </p>
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
        : ["", c.remedy.set ? "not run" : "advice"];
  return (
    <span class={`state ${kind}`}>
      <i />
      {words}
    </span>
  );
}
