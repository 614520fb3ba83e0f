import type { Coll, Info } from "./api";
import { view } from "./api";
import { causes } from "./colour";
import * as f from "./format";
import { address, useData } from "./state";

/** Split is a bar of a collective's time by cause. */
export function Split({ c }: { c: Coll }) {
  const total = causes.reduce((sum, [k]) => sum + c[k], 0) || 1;
  const text = causes.filter(([k]) => c[k] > 0).map(([k, name]) => `${name} ${f.time(c[k])}`).join(", ");
  return (
    <div class="splitbar" role="img" aria-label={text} title={text}>
      {causes.map(([k, , colour]) => c[k] > 0 && <span style={{ width: `${(100 * c[k]) / total}%`, background: colour }} />)}
    </div>
  );
}

export function Why({ info }: { info: Info }) {
  const { data, error } = useData(() => view<{ worst: Coll[] | null; sums: Coll[] | null; count: number }>(info.name, "collectives"), [info.name]);
  if (error) return <p class="error" role="alert">{error}</p>;
  if (!data) return <p class="hint">loading…</p>;
  const s = info.summary;
  return (
    <section aria-label="Why" class="why">
      {s.slowest_flow && (
        <div class="panel">
          <h3>The slowest message</h3>
          <p data-testid="slowest">
            {s.slowest_flow.from} → {s.slowest_flow.to}, {f.bytes(s.slowest_flow.bytes)} in {f.time(s.slowest_flow.time_ps)}: {s.slowest_flow.why}.
          </p>
        </div>
      )}
      <p class="kinds">
        {causes.map(([, name, colour]) => (
          <span>
            <i style={{ background: colour }} />
            {name}
          </span>
        ))}
      </p>
      <h3>Where the time of collectives went, all instances together</h3>
      {(data.sums ?? []).length === 0 && <p class="hint">This run has no collectives that ended.</p>}
      <table data-testid="sums">
        <thead><tr><th>collective</th><th class="n">instances</th><th class="n">time together</th><th class="n">of it at line rate</th><th>by cause</th></tr></thead>
        <tbody>
          {(data.sums ?? []).map((c) => (
            <tr>
              <td>{c.Name}</td>
              <td class="n">{f.count(c.Count ?? 0)}</td>
              <td class="n">{f.time(c.End)}</td>
              <td class="n">{f.percent(c.Ideal / Math.max(1, c.End))}</td>
              <td class="wide"><Split c={c} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>The collectives that lost most</h3>
      <table>
        <thead><tr><th>collective</th><th class="n">began</th><th class="n">took</th><th class="n">line rate</th><th>by cause</th><th>largest cause</th></tr></thead>
        <tbody>
          {(data.worst ?? []).map((c) => (
            <tr>
              <td>{c.Name} of {f.bytes(c.Bytes)}, {c.Ranks} ranks</td>
              <td class="n">{f.time(c.Start)}</td>
              <td class="n">{f.time(c.End - c.Start)}</td>
              <td class="n">{f.time(c.Ideal)}</td>
              <td class="wide"><Split c={c} /></td>
              <td>
                {c.Why}{" "}
                {c.Port >= 0 && (
                  <a href={address(["run", info.name, "fabric"], { metric: c.Pause > c.Collision + c.Incast ? "pause" : "queue", t: Math.floor((c.At / Math.max(1, s.step_time_ps)) * info.cols), port: c.Port })}>see it</a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.count > (data.worst ?? []).length && <p class="hint">{f.count(data.count)} instances in all; of each kind the eight that lost most are listed.</p>}
    </section>
  );
}
