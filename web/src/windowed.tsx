import { useMemo } from "preact/hooks";
import { type Info, standalone, view } from "./api";
import type { PauseRanking, Tiers } from "./contract";
import { byFlow } from "./flow";
import * as f from "./format";
import { set, useData, usePlace } from "./state";

/** shown is the window of the address: "455–465 ms". */
function shown(from: number, to: number): string {
  const [a, b] = [f.time(from), f.time(to)];
  const unit = b.split(/\s/).pop()!;
  return a.endsWith(unit) ? `${a.slice(0, -unit.length).trim()}–${b}` : `${a} – ${b}`;
}

/** WindowChip names the window that all views share, and clears it. */
export function WindowChip() {
  const { args } = usePlace();
  const [from, to] = [args.get("from"), args.get("to")];
  if (from === null || to === null) return null;
  return (
    <button class="chip" data-testid="window" title="show the whole step" onClick={() => set({ from: undefined, to: undefined })}>
      {shown(Number(from), Number(to))} ×
    </button>
  );
}

/** useWindowed is what ports do in the window of the address, and more of it; undefined: without a window. */
export function useWindowed(info: Info): [string, string] | undefined {
  const { args } = usePlace();
  const [from, to] = [args.get("from"), args.get("to")];
  const is = from !== null && to !== null && !standalone() && !byFlow(info);
  const query = `from=${from}&to=${to}`;
  const roots = useData(is && info.summary.pfc_pauses > 0 ? () => view<PauseRanking>(info.name, `roots?${query}`) : null, [info.name, is, query]);
  const tiers = useData(is ? () => view<Tiers>(info.name, `tiers?${query}`) : null, [info.name, is, query]);
  return useMemo(() => {
    if (!is) return undefined;
    const when = `From ${f.time(Number(from))} to ${f.time(Number(to))}`;
    const root = roots.data?.roots[0];
    if (root && roots.data!.paused_ps > 0)
      return [
        `${when}, ${f.whole(root.name)} causes ${f.percent(root.pause_ps / roots.data!.paused_ps)} of the pause time.`,
        `${f.plural(roots.data!.paused_ports, "port")} ${roots.data!.paused_ports === 1 ? "is" : "are"} paused for ${f.time(roots.data!.paused_ps)} in sum, for the bytes of ${f.plural(roots.data!.flow_count, "flow")}.`,
      ];
    const top = tiers.data?.culprits[0];
    if (top)
      return [
        `${when}, ${f.whole(top.name)} queues most: ${f.percent(top.held_share)} of all bytes held.`,
        `${f.plural(top.flow_count, "flow")} wait${top.flow_count === 1 ? "s" : ""} there.`,
      ];
    return tiers.data ? [`${when}, no port queues bytes at the end of a sample.`, ""] : [`${when}…`, ""];
  }, [is, from, to, roots.data, tiers.data]);
}
