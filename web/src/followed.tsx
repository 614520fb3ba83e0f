import type { Journeys } from "./contract";
import { type Info, view } from "./api";
import * as f from "./format";
import { address, useData } from "./state";

type Copy = Journeys["packets"][number]["copies"][number];

/** FollowedPackets tells the packets that a run followed, hop by hop. */
export function FollowedPackets({ info }: { info: Info }) {
  const { data, error } = useData(() => view<Journeys>(info.name, "followed"), [info.name]);
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (!data) return null;
  if ((data.packets ?? []).length === 0)
    return (
      <p class="hint">
        To follow one packet hop by hop, run the scenario with <code>--follow 0/+17</code>: queue pair 0, the
        packet behind its first 17.
      </p>
    );
  return (
    <div data-testid="followed">
      {data.packets.map((p) => (
        <details class="panel" open={data.packets.length <= 4}>
          <summary>
            packet {p.asked}: PSN {p.psn} of queue pair {p.qp}, {p.from} → {p.to}
          </summary>
          {p.copies.length === 0 && <p>No such packet left a NIC in this run.</p>}
          {p.copies.map((c) => (
            <Journey info={info} c={c} />
          ))}
          {!!p.more && <p class="hint">It left {f.count(p.more)} times more, which were not followed.</p>}
        </details>
      ))}
    </div>
  );
}

/** Journey is one copy on its way: a bar of its time in queues and on the way at each hop. */
function Journey({ info, c }: { info: Info; c: Copy }) {
  const begin = c.hops[0]?.left_ps ?? 0;
  const end = c.end_ps || (c.hops[c.hops.length - 1]?.left_ps ?? begin);
  const span = Math.max(1, end - begin);
  const share = (ps: number) => `${Math.max(0, Math.min(100, (100 * ps) / span))}%`;
  const waited = c.hops.slice(1).reduce((sum, h) => sum + h.left_ps - h.ready_ps, 0);
  const first = (k: "marked" | "trimmed") => c.hops.findIndex((h) => h[k]);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${c.kind} on its way`}>
      <h4>
        {c.kind}
        {c.again && ", retransmitted"}, {f.bytes(c.bytes)}:{" "}
        {c.end === "under way"
          ? "under way when the run ended"
          : `${c.end} at ${c.ended_at} after ${f.time(span)}, ${f.time(waited)} of them in queues`}
      </h4>
      <table class="tight">
        <thead>
          <tr>
            <th>leaves</th>
            <th class="n">at</th>
            <th class="n">found there</th>
            <th class="n">waited</th>
            <th>its time</th>
            <th>what happened</th>
          </tr>
        </thead>
        <tbody>
          {c.hops.map((h, i) => (
            <tr>
              <td>
                <a
                  href={address(["run", info.name, "fabric"], {
                    metric: "queue",
                    port: h.port,
                    at: h.left_ps,
                  })}
                >
                  {h.name}
                </a>
              </td>
              <td class="n">{f.time(h.left_ps)}</td>
              <td class="n">{i > 0 ? f.bytes(h.found_bytes) : ""}</td>
              <td class="n">{i > 0 ? f.time(h.left_ps - h.ready_ps) : ""}</td>
              <td class="wide">
                <div class="way" aria-hidden="true">
                  {i > 0 && (
                    <span
                      class="waits"
                      style={{ left: share(h.ready_ps - begin), width: share(h.left_ps - h.ready_ps) }}
                    />
                  )}
                  <span
                    style={{
                      left: share(h.left_ps - begin),
                      width: share((c.hops[i + 1]?.ready_ps ?? end) - h.left_ps),
                    }}
                  />
                </div>
              </td>
              <td>
                {[
                  h.paused && "its class was paused",
                  first("marked") === i && "marked",
                  first("trimmed") === i && "trimmed",
                ]
                  .filter(Boolean)
                  .join(", ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
