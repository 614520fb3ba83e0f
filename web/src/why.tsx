import type { CauseInfo, CollectiveRow, Collectives, Info, StepLoss } from "./api";
import { view } from "./api";
import { Lost, Meetings, Rings } from "./ended";
import * as f from "./format";
import { Happened, happenings } from "./happened";
import { VOQs } from "./scheduled";
import { address, useData } from "./state";
import { Steps } from "./steps";
import { Stored } from "./storage";

/** Split is a bar of a collective's time by cause. */
export function Split({ c, causes }: { c: CollectiveRow; causes: CauseInfo[] }) {
  const parts = causes.map((x) => ({ ...x, ps: c.causes[x.key + "_ps"] ?? 0 })).filter((x) => x.ps > 0);
  const total = parts.reduce((sum, x) => sum + x.ps, 0) || 1;
  const text = parts.map((x) => `${x.name} ${f.time(x.ps)}`).join(", ");
  return (
    <div class="splitbar" role="img" aria-label={text} title={text}>
      {parts.map((x) => (
        <span style={{ width: `${(100 * x.ps) / total}%`, background: x.color }} />
      ))}
    </div>
  );
}

/** mostlyPaused says whether pauses are the largest cause, with the reaction to them. */
function mostlyPaused(c: CollectiveRow, causes: CauseInfo[]): boolean {
  const saves = (key: string) => (c.causes[key + "_ps"] ?? 0) + (c.causes[key + "_reaction_ps"] ?? 0);
  const others = causes.filter((x) => !["pause", "line_rate", "compute", "rate_not_given_back"].includes(x.key));
  return saves("pause") > Math.max(0, ...others.map((x) => saves(x.key)));
}

/** StepLost lists where the step's time above line rate went, the largest saving first, and what to change. */
function StepLost({ rows, step }: { rows: StepLoss[]; step: number }) {
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>Time above line rate on the critical path of the step</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="the step's lost time by cause">
        <table data-testid="step-lost">
          <thead>
            <tr>
              <th>cause</th>
              <th class="n">time</th>
              <th class="n">of the step</th>
              <th class="n">CC recovering after it</th>
              <th class="n">a run without it saves, by the model</th>
              <th>remedy</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((c) => (
              <tr>
                <td title={c.about}>
                  <i class="swatch" style={{ background: c.color }} /> {c.name}
                </td>
                <td class="n">{f.time(c.own_ps)}</td>
                <td class="n">{f.percent(c.own_ps / Math.max(1, step))}</td>
                <td class="n">{c.reaction_ps > 0 ? f.time(c.reaction_ps) : "–"}</td>
                <td class="n">{c.saving_ps > 0 ? f.time(c.saving_ps) : "nothing alone"}</td>
                <td class="reason">
                  {c.remedy
                    ? c.remedy.says +
                      (c.remedy.set ? ": " + c.remedy.set.map((x) => "--set " + x).join(" ") : "") +
                      (c.remedy.needs ? `; needs ${c.remedy.needs}` : "")
                    : "–"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">
        <code>railyard why</code> with this run's folder and <code>--try 3</code> simulates the first three remedies.
      </p>
    </div>
  );
}

export function Why({ info }: { info: Info }) {
  const { data, error } = useData(() => view<Collectives>(info.name, "collectives"), [info.name]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="hint">loading…</p>;
  const s = info.summary;
  return (
    <section aria-label="Why" class="why">
      {s.outcome && <Lost o={s.outcome} />}
      {s.closed_chains && <Rings c={s.closed_chains} />}
      <StepLost rows={data.step ?? []} step={s.step_time_ps} />
      {s.slowest_flow && (
        <div class="panel">
          <h3>The slowest message</h3>
          <p data-testid="slowest">
            {s.slowest_flow.from} → {s.slowest_flow.to}, {f.bytes(s.slowest_flow.bytes)} in{" "}
            {f.time(s.slowest_flow.time_ps)}: {s.slowest_flow.why}.
          </p>
        </div>
      )}
      {(s.meetings ?? []).length > 0 && <Meetings all={s.meetings ?? []} />}
      {(s.steps_in_order ?? []).length > 0 && <Steps all={s.steps_in_order ?? []} />}
      {s.storage && <Stored s={s.storage} stalls={s.stalls ?? []} />}
      {s.scheduled && <VOQs s={s.scheduled} />}
      {happenings(s).length > 0 && (
        <div class="panel">
          <h3>What happened to cables and routes</h3>
          <Happened all={happenings(s)} />
        </div>
      )}
      <p class="kinds">
        {(data.causes_present ?? []).map((x) => (
          <span title={x.about}>
            <i style={{ background: x.color }} />
            {x.name}
          </span>
        ))}
      </p>
      <h3>Where the time of collectives went, all instances together</h3>
      {(data.sums ?? []).length === 0 && <p class="hint">This run has no collectives that ended.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="collectives, all instances together">
        <table data-testid="sums">
          <thead>
            <tr>
              <th>collective</th>
              <th class="n">instances</th>
              <th class="n">time together</th>
              <th class="n">of it at line rate</th>
              <th>by cause</th>
            </tr>
          </thead>
          <tbody>
            {(data.sums ?? []).map((c) => (
              <tr>
                <td>{c.name}</td>
                <td class="n">{f.count(c.count ?? 0)}</td>
                <td class="n">{f.time(c.end_ps)}</td>
                <td class="n">{f.percent((c.causes.line_rate_ps ?? 0) / Math.max(1, c.end_ps))}</td>
                <td class="wide">
                  <Split c={c} causes={data.causes_present ?? []} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h3>The collectives that lost most</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="collectives that lost most">
        <table class="lost-most">
          <thead>
            <tr>
              <th>collective</th>
              <th class="n">began</th>
              <th class="n">took</th>
              <th class="n">line rate</th>
              <th>by cause</th>
              <th>largest cause</th>
            </tr>
          </thead>
          <tbody>
            {(data.worst ?? []).map((c) => (
              <tr>
                <td>
                  {c.name} of {f.bytes(c.bytes)}, {c.ranks} ranks
                </td>
                <td class="n">{f.time(c.start_ps)}</td>
                <td class="n">{f.time(c.end_ps - c.start_ps)}</td>
                <td class="n">{f.time(c.causes.line_rate_ps ?? 0)}</td>
                <td class="wide">
                  <Split c={c} causes={data.causes_present ?? []} />
                </td>
                <td class="reason">
                  {c.why}{" "}
                  {c.port >= 0 && (
                    <a
                      href={address(["run", info.name, "fabric"], {
                        metric: mostlyPaused(c, data.causes_present ?? []) ? "pause" : "queue",
                        t: Math.min(info.cols - 1, Math.floor((c.at_ps / Math.max(1, s.step_time_ps)) * info.cols)),
                        port: c.port,
                      })}
                    >
                      see it
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {data.count > (data.worst ?? []).length && (
        <p class="hint">
          {f.count(data.count)} instances in all; of each kind the eight that lost most are listed.
        </p>
      )}
    </section>
  );
}
