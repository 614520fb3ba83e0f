import type { Answer, CauseInfo, CollectiveRow, Collectives, Info } from "./api";
import { standalone, view } from "./api";
import { costs } from "./causes";
import { causeColour } from "./colour";
import { acted, controls } from "./control";
import { Lost, Meetings, Rings } from "./ended";
import * as f from "./format";
import { Happened, happenings } from "./happened";
import { VOQs } from "./scheduled";
import { address, useData } from "./state";
import { Steps } from "./steps";
import { Stored } from "./storage";
import { pathsBy, transportOf } from "./transport";

/** Details are what stands below the answer: what this kind of run has besides, its collectives, its settings. */
export function Details({ info, data }: { info: Info; data: Answer }) {
  const s = info.summary;
  return (
    <div class="more">
      {s.outcome && <Lost o={s.outcome} />}
      {s.closed_chains && <Rings c={s.closed_chains} />}
      {(s.meetings ?? []).length > 0 && <Meetings all={s.meetings ?? []} />}
      {(s.steps_in_order ?? []).length > 0 && <Steps all={s.steps_in_order ?? []} />}
      {s.storage && <Stored s={s.storage} stalls={s.stalls ?? []} />}
      {s.scheduled && <VOQs s={s.scheduled} />}
      {happenings(s).length > 0 && (
        <div class="panel">
          <h3>Events of links and routes</h3>
          <Happened all={happenings(s)} />
        </div>
      )}
      <Table info={info} />
      <details>
        <summary>Counters and settings</summary>
        <dl class="about" data-testid="about">
          <dt>counters</dt>
          <dd>
            <span data-testid="signals">{data.signals}</span>
          </dd>
          {data.method && (
            <>
              <dt>fidelity</dt>
              <dd data-testid="method">{f.begin(data.method)}</dd>
            </>
          )}
          <dt>transport</dt>
          <dd>
            {transportOf(info).name}. {transportOf(info).means}
          </dd>
          <dt>paths</dt>
          <dd>{pathsBy(s.lb)}</dd>
          {s.congestion_control && (
            <>
              <dt>congestion control</dt>
              <dd>
                {s.congestion_control}
                {controls(s).map((c) => (
                  <span data-testid="control">; {acted(c)}</span>
                ))}
              </dd>
            </>
          )}
          {(info.manifest.limits ?? []).map((l) => (
            <>
              <dt>limit</dt>
              <dd>{l}</dd>
            </>
          ))}
        </dl>
      </details>
    </div>
  );
}

/** Split is a bar of a collective's time by cause. */
function Split({ c, causes, of }: { c: CollectiveRow; causes: CauseInfo[]; of: number }) {
  const parts = causes.map((x) => ({ ...x, ps: costs(c.causes, x.key) })).filter((x) => x.ps > 0);
  const text = parts.map((x) => `${x.name} ${f.time(x.ps)}`).join(", ");
  return (
    <div class="splitbar" role="img" aria-label={text} title={text}>
      {parts.map((x) => (
        <span style={{ width: `${(100 * x.ps) / Math.max(1, of)}%`, background: causeColour(x.key) }} />
      ))}
    </div>
  );
}

interface Group {
  first: CollectiveRow;
  count: number;
  shortest: number;
  longest: number;
}

/** grouped joins instances that differ by a few percent of their time alone. */
function grouped(rows: CollectiveRow[]): Group[] {
  const out: Group[] = [];
  for (const c of rows) {
    const took = c.end_ps - c.start_ps;
    const g = out.find(
      ({ first: a, longest }) =>
        a.name === c.name &&
        a.bytes === c.bytes &&
        a.ranks === c.ranks &&
        a.job === c.job &&
        a.port === c.port &&
        took >= 0.9 * longest,
    );
    if (g) {
      g.count++;
      g.shortest = Math.min(g.shortest, took);
    } else out.push({ first: c, count: 1, shortest: took, longest: took });
  }
  return out;
}

/** Table lists collectives by name, and the instances that lost most. */
function Table({ info }: { info: Info }) {
  const { data, error } = useData(() => view<Collectives>(info.name, "collectives"), [info.name]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return <p class="loading">Loading collectives…</p>;
  if (data.sums.length === 0) return null;
  const part = (c: CollectiveRow, key: string) => costs(c.causes, key) / Math.max(1, c.end_ps);
  const causes = data.causes_present.filter((x) => data.sums.some((c) => part(c, x.key) >= 0.005));
  return (
    <>
      <div class="head">
        <h2>{data.sums.every((c) => c.name === "flows") ? "Flows" : "Collectives"}</h2>
        <p class="kinds">
          {causes.map((x) => (
            <span title={x.about}>
              <i style={{ background: causeColour(x.key) }} />
              {x.name}
            </span>
          ))}
        </p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="collectives by name">
        <table class="sums" data-testid="sums">
          <thead>
            <tr>
              <th>collective</th>
              <th class="n">instances</th>
              <th class="n">mean time</th>
              <th class="n">line rate</th>
              <th>causes, share of its time</th>
            </tr>
          </thead>
          <tbody>
            {data.sums.map((c) => (
              <tr>
                <td>{c.job ? `${c.job}: ${c.name}` : c.name}</td>
                <td class="n">{f.count(c.count)}</td>
                <td class="n">{f.time(c.end_ps / Math.max(1, c.count))}</td>
                <td class="n">{f.percent((c.causes.line_rate_ps ?? 0) / Math.max(1, c.end_ps))}</td>
                <td class="wide">
                  <Split c={c} causes={causes} of={c.end_ps} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <details>
        <summary>Instances that lost most</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="collectives that lost most">
          <table class="lost-most" data-testid="worst">
            <thead>
              <tr>
                <th>collective</th>
                <th class="n">start</th>
                <th class="n">time</th>
                <th>causes</th>
                <th>largest cause</th>
              </tr>
            </thead>
            <tbody>
              {grouped(data.worst).map(({ first: c, count, shortest, longest }) => (
                <tr>
                  <td>
                    {c.name} of {f.bytes(c.bytes)}, {f.plural(c.ranks, "rank")}
                    {count > 1 && ` × ${count}`}
                  </td>
                  <td class="n">{f.time(c.start_ps)}</td>
                  <td class="n">
                    {shortest < 0.995 * longest ? `${f.time(shortest)} – ${f.time(longest)}` : f.time(longest)}
                  </td>
                  <td class="wide">
                    <Split c={c} causes={causes} of={longest} />
                  </td>
                  <td class="reason">
                    {c.why}{" "}
                    {c.port >= 0 && (
                      <a
                        href={address(standalone() ? ["fabric"] : ["run", info.name, "fabric"], {
                          metric: c.leading === "pause" ? "pause" : "queue",
                          at: c.at_ps,
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
      </details>
    </>
  );
}
