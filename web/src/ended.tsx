import type { Chain, Chains, Meeting, Outcome } from "./contract";
import * as f from "./format";

/** Lost is how a job ended that did not finish: who was cut off, what of it was done. */
export function Lost({ o }: { o: Outcome }) {
  const d = o.finished;
  return (
    <div class="panel" role="alert" data-testid="outcome">
      <h3>
        {o.ended} at {f.time(o.at_ps)}
      </h3>
      <p>{o.why}.</p>
      {(o.broken ?? []).length > 0 && <p>Broken then: {few(o.broken)}.</p>}
      {(o.cut_off ?? []).length > 0 && (
        <p>
          Cut off: {few(o.cut_off.map((r) => `${r.gpu} since ${f.time(r.since_ps)} (${r.why})`))}.
        </p>
      )}
      <p>
        Finished were {f.count(d.operations)} of {f.count(d.of_operations)} operations,{" "}
        {f.bytes(d.network_bytes)} of {f.bytes(d.of_network_bytes)} over the network and{" "}
        {f.count(d.collectives)} of{" "}
        {f.count(d.of_collectives)} collectives. {f.count(o.waiting_ranks)} GPUs with work left hang until the
        collectives' time-out of {f.time(o.limit_ps)} ends the job, at {f.time(o.job_ps)}
        {o.lost_since_checkpoint_most_ps > 0 &&
          `; what was trained since the last checkpoint is lost too, up to ${f.time(o.lost_since_checkpoint_most_ps)}`}
        {o.cost_mean_ps > 0 &&
          `; back at work ${f.time(o.restart_ps)} later, it costs ${f.time(o.cost_mean_ps)} in the mean`}
        .
      </p>
    </div>
  );
}

/** few names the first of many. */
function few(all: string[]): string {
  const first = all.slice(0, 6).join("; ");
  return all.length > 6 ? `${first}; and ${all.length - 6} more` : first;
}

// How chains ended, the worst first.
const harm = ["stands", "watchdog", "cable", "by itself"];

/** Rings are the closed chains of pauses: each port waits for the next, and the last for the first. */
export function Rings({ c }: { c: Chains }) {
  const ends: [number, string][] = [
    [c.standing, "standing at the end"],
    [c.broken_by_watchdog, "broken by the PFC watchdog"],
    [c.broken_by_cable, "broken by a cable that broke"],
    [c.ended_by_themselves, "that ended by themselves"],
  ];
  const said = ends.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
  return (
    <div class="panel" data-testid="chains">
      <h3>Deadlock: pauses that waited for one another</h3>
      <p>
        {c.count} closed {c.count === 1 ? "chain" : "chains"} of pauses: {said.join(", ")}.
      </p>
      {[...(c.chains ?? [])]
        .sort((a, b) => harm.indexOf(a.how) - harm.indexOf(b.how))
        .slice(0, 5)
        .map((x) => (
          <Ring x={x} />
        ))}
    </div>
  );
}

/** Ring tells one chain, port by port in the order in which they wait. */
function Ring({ x }: { x: Chain }) {
  return (
    <>
      <p>{x.told}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label={`chain that closed at ${f.time(x.closed_ps)}`}>
        <table>
          <thead>
            <tr>
              <th>port, which waits for the next</th>
              <th class="n">paused since</th>
              <th class="n">bytes that wait</th>
              <th>first of</th>
            </tr>
          </thead>
          <tbody>
            {x.ports.map((p) => (
              <tr>
                <td>
                  {p.name === x.first_paused ? <strong>{p.name}, paused first</strong> : p.name} (priority {p.priority})
                </td>
                <td class="n">{f.time(p.paused_since_ps)}</td>
                <td class="n">{f.bytes(p.waiting_bytes)}</td>
                <td>{p.flow}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Meetings are the ports at which jobs met, and what each sent there meanwhile. */
export function Meetings({ all }: { all: Meeting[] }) {
  return (
    <div class="panel" data-testid="meetings">
      <h3>Where jobs met</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="ports at which jobs met">
        <table>
          <thead>
            <tr>
              <th>port</th>
              <th class="n">from</th>
              <th class="n">to</th>
              <th class="n">together</th>
              <th class="n">load</th>
              <th>what each sent meanwhile</th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, 20).map((m) => (
              <tr>
                <td>{m.port}</td>
                <td class="n">{f.time(m.from_ps)}</td>
                <td class="n">{f.time(m.to_ps)}</td>
                <td class="n">{f.time(m.together_ps)}</td>
                <td class="n">{f.percent(m.load)}</td>
                <td>{m.jobs.map((j) => `${j.job} ${f.bytes(j.bytes)}`).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
