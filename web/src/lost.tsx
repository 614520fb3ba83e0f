import { useMemo } from "preact/hooks";
import { type Fabric, type Loss, named, places, points, without } from "./failures";
import * as f from "./format";
import { set } from "./state";

const listed = 400; // switches and places in a list

/** chosen adds a name to those that fail, or takes it out. */
export function chosen(gone: string, name: string): string | undefined {
  const all = gone.split("|").filter(Boolean);
  const left = all.includes(name) ? all.filter((n) => n !== name) : [...all, name];
  return left.join("|") || undefined;
}

/** lossOf is what is lost without the nodes that the address names. */
export function lossOf(whole: Fabric, gone: string): Loss {
  const names = gone.split("|").filter(Boolean);
  return without(whole, new Set(names.flatMap((n) => named(whole.t, n))));
}

const plural = (n: number, what: string) => `${f.count(n)} ${what}${n === 1 ? "" : "s"}`;

/** told says what a loss means, in sentences. */
export function told(whole: Fabric, loss: Loss): string[] {
  if (loss.gone.size === 0) return [];
  const { nodes, nics } = whole.t;
  const out: string[] = [];
  const servers = [...loss.gone].filter((n) => nodes[n].role === "host").length;
  if (servers > 0)
    out.push(
      `${plural(servers, "server")} with ${plural(loss.goneGPUs, "GPU")} and ${plural(loss.goneNICs, "NIC")} ` +
        `${servers === 1 ? "is" : "are"} gone.`,
    );
  if (loss.nics.size === 0)
    out.push(
      servers > 0
        ? "Nobody else is cut off: every other NIC still reaches the rest."
        : "Nobody is cut off: every NIC still reaches the rest.",
    );
  else
    out.push(
      `${plural(loss.nics.size, "NIC")} of ${f.count(nics.length)}, in ${plural(loss.hosts.size, "server")}, ` +
        `${loss.nics.size === 1 ? "is" : "are"} cut off: they hang on this alone.`,
    );
  if (loss.apart) out.push("What is left falls apart; all but the largest part counts as cut off.");
  const some = loss.gpus === 1 ? "it" : "all of them";
  const lent = loss.lent === loss.gpus ? some : f.count(loss.lent);
  if (loss.gpus > 0)
    out.push(
      `${plural(loss.gpus, "GPU")} ${loss.gpus === 1 ? "has" : "have"} no NIC left` +
        (loss.lent > 0
          ? `; ${lent} could still send by a neighbour's over NVLink.`
          : "."),
    );
  const worst = Math.max(0, ...loss.thin.values());
  if (loss.thin.size > 0)
    out.push(
      `${plural(loss.thin.size, "node")} ${loss.thin.size === 1 ? "goes" : "go"} on with fewer cables upwards, ` +
        (worst === 1 ? "at worst with none." : `at worst with ${f.percent(1 - worst)} of what they had.`),
    );
  return out;
}

/** Lost lets somebody break switches and places, and says what hangs on them. */
export function Lost(props: { whole: Fabric; loss: Loss; gone: string; open: Set<string> }) {
  const { whole, loss, gone } = props;
  const { nodes, nics } = whole.t;
  const single = useMemo(() => points(whole), [whole]);
  const stands = useMemo(() => places(whole.t), [whole]);
  const switches = useMemo(() => nodes.filter((n) => n.role !== "host").map((n) => n.name), [nodes]);
  const names = gone.split("|").filter(Boolean);
  const label = (n: string) => n.replaceAll("=", " ").replaceAll(",", ", ");
  const toggle = (n: string) => set({ gone: chosen(gone, n) }, false);
  return (
    <div class="panel" data-testid="lost">
      <h3>What a failure cuts off</h3>
      <p class="hint">
        Click a switch, a server or a group in the drawing, or choose one here; several may fail at once.
      </p>
      <label>
        fails{" "}
        <select
          aria-label="what fails"
          value=""
          onChange={(e) => e.currentTarget.value && toggle(e.currentTarget.value)}
        >
          <option value="">choose…</option>
          <optgroup label="a switch">
            {switches.slice(0, listed).map((n) => (
              <option value={n}>{n}</option>
            ))}
          </optgroup>
          {stands.length > 0 && (
            <optgroup label="all that stands at a place">
              {stands.slice(0, listed).map((p) => (
                <option value={p.key}>{p.label}</option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      {(switches.length > listed || stands.length > listed) && (
        <p class="hint">The list has the first {listed} of each; the drawing has all.</p>
      )}
      {names.length > 0 && (
        <p class="picked">
          {names.map((n) => (
            <button onClick={() => toggle(n)} aria-label={`${label(n)} works again`}>
              {label(n)} ✕
            </button>
          ))}
          {names
            .filter((n) => n.includes("=") && !props.open.has(n))
            .map((n) => (
              <button onClick={() => set({ open: [...props.open, n].join("|") }, false)}>
                open {label(n)}
              </button>
            ))}
        </p>
      )}
      <div aria-live="polite" data-testid="lost-says">
        {told(whole, loss).map((x) => (
          <p>{x}</p>
        ))}
      </div>
      <h4>Single points of failure: what hangs on one switch alone</h4>
      {single.list.length === 0 ? (
        <p>None: no NIC is lost with any one switch.</p>
      ) : (
        <table data-testid="points">
          <thead>
            <tr>
              <th>switch</th>
              <th class="n">NICs</th>
              <th class="n">of all</th>
            </tr>
          </thead>
          <tbody>
            {single.list.slice(0, 24).map((p) => (
              <tr>
                <td>
                  <button
                    aria-pressed={names.includes(nodes[p.node].name)}
                    onClick={() => toggle(nodes[p.node].name)}
                  >
                    {nodes[p.node].name}
                  </button>
                </td>
                <td class="n">{f.count(p.nics)}</td>
                <td class="n">{f.percent(p.nics / nics.length)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {single.list.length > 24 && <p class="hint">and {f.count(single.list.length - 24)} more</p>}
      {single.untried > 0 && (
        <p class="hint">{f.count(single.untried)} switches were not tried: the fabric is too large.</p>
      )}
    </div>
  );
}
