import type { Scheduled } from "./contract";
import * as f from "./format";

/** most is how many interface nodes are listed: those that held most. */
const most = 40;

/** VOQs says what a scheduled fabric did and held. */
export function VOQs({ s }: { s: Scheduled }) {
  const nodes = [...(s.interface_nodes ?? [])].sort((a, b) => b.held_peak_bytes - a.held_peak_bytes);
  return (
    <div class="panel">
      <h3>The scheduled fabric</h3>
      <p data-testid="scheduled">
        {f.count(s.cells)} cells, {f.count(s.requests)} requests, {f.count(s.grants)} grants
        {s.link_least_bytes > 0 &&
          `; fabric links of one node differ by ${f.percent(s.link_most_bytes / s.link_least_bytes - 1)} at most`}
        {s.cells_lost > 0 &&
          `; ${f.count(s.cells_lost)} cells lost, ${f.count(s.packets_given_up)} packets given up`}
        . An egress port may be granted {f.bytes(s.egress_room_bytes)} ahead.
      </p>
      <table data-testid="voqs">
        <thead>
          <tr>
            <th>interface node</th>
            <th class="n">VOQs</th>
            <th class="n">held at most</th>
            <th class="n">in one</th>
            <th class="n">wait for credit, mean</th>
            <th class="n">longest</th>
            <th class="n">egress held</th>
          </tr>
        </thead>
        <tbody>
          {nodes.slice(0, most).map((n) => (
            <tr>
              <td>{n.name}</td>
              <td class="n">{f.count(n.voqs)}</td>
              <td class="n">{f.bytes(n.held_peak_bytes)}</td>
              <td class="n">{f.bytes(n.voq_peak_bytes)}</td>
              <td class="n">{f.time(n.wait_mean_ps)}</td>
              <td class="n">{f.time(n.wait_most_ps)}</td>
              <td class="n">{f.bytes(n.egress_peak_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {nodes.length > most && <p class="hint">and {f.count(nodes.length - most)} more in summary.json</p>}
    </div>
  );
}
