import type { Stall, Storage } from "./contract";
import * as f from "./format";

/** Stored says what storage servers did, and which steps waited for them. */
export function Stored({ s, stalls }: { s: Storage; stalls: Stall[] }) {
  return (
    <div class="panel" data-testid="storage">
      <h3>Storage</h3>
      <p>
        {s.servers} {s.servers === 1 ? "server" : "servers"}{" "}
        {s.network === "shared" ? "over the GPUs' fabric" : "over a network of its own"}:{" "}
        {f.bytes(s.read_bytes)} read, {f.bytes(s.written_bytes)} written
        {s.media_busy > 0
          ? `; the media of ${s.busiest} were busy ${(100 * s.media_busy).toFixed(1)} % of the time`
          : ""}
        .
      </p>
      {stalls.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>step</th>
              <th>waited for</th>
              <th class="n">GPUs</th>
              <th>longest</th>
              <th class="n">wait</th>
              <th>who was late</th>
              <th class="n">bytes</th>
              <th class="n">since</th>
              <th class="n">until</th>
              <th class="n">in media</th>
              <th class="n">in the network</th>
            </tr>
          </thead>
          <tbody>
            {stalls.slice(0, 50).map((x) => (
              <tr>
                <td>{x.job ? `${x.job}, ${x.step}` : x.step}</td>
                <td>{x.kind === "data" ? "its batch" : "its checkpoint"}</td>
                <td class="n">{x.gpus}</td>
                <td>{x.gpu}</td>
                <td class="n">{f.time(x.waited_ps)}</td>
                <td>{x.from}</td>
                <td class="n">{f.bytes(x.bytes)}</td>
                <td class="n">{f.time(x.asked_ps)}</td>
                <td class="n">{f.time(x.came_ps)}</td>
                <td class="n">{f.time(x.media_ps)}</td>
                <td class="n">{f.time(x.network_ps)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
