import type { CollectiveRow } from "./api";

// Scales that people with any colour vision can read: viridis for amounts, and
// Okabe and Ito's colours for kinds.
const viridis = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 74, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [109, 205, 89],
  [180, 222, 44],
  [253, 231, 37],
];

/** heat is the colour of a share from 0 to 1. */
export function heat(v: number): string {
  const x = Math.max(0, Math.min(1, v)) * (viridis.length - 1);
  const i = Math.min(Math.floor(x), viridis.length - 2);
  const c = viridis[i].map((a, k) => Math.round(a + (viridis[i + 1][k] - a) * (x - i)));
  return `rgb(${c[0]},${c[1]},${c[2]})`;
}

export const heatStops = viridis.map((c) => `rgb(${c.join(",")})`);

const kinds: Record<string, string> = {
  forward: "#0072b2",
  backward: "#56b4e9",
  optimizer: "#7f7f7f",
  "tensor-parallel": "#e69f00",
  "pipeline-parallel": "#009e73",
  "data-parallel": "#cc79a7",
  "context-parallel": "#b8a400",
  "expert-parallel": "#d55e00",
  transfer: "#44aa99",
  "computing or waiting": "#999999",
};
export const kindColour = (c: string) => kinds[c] ?? "#999999";

/** causes of a collective's time, with the colour of each. */
type Cause = { [K in keyof CollectiveRow]: CollectiveRow[K] extends number ? K : never }[keyof CollectiveRow];
export const causes: [key: Cause, name: string, colour: string][] = [
  ["ideal_ps", "line rate", "#0072b2"],
  ["latency_ps", "latency", "#56b4e9"],
  ["rate_not_given_back_ps", "rate not given back", "#f0e442"],
  ["window_too_small_ps", "window too small", "#b8a400"],
  ["waiting_for_credit_ps", "waiting for credit", "#99d5c9"],
  ["collision_ps", "hash collision", "#d55e00"],
  ["oversubscription_ps", "oversubscription", "#882255"],
  ["slow_link_ps", "slow link", "#661100"],
  ["incast_ps", "incast", "#e69f00"],
  ["pause_ps", "pause", "#cc79a7"],
  ["retransmission_ps", "sent again", "#000000"],
  ["trimmed_ps", "trimmed", "#785ef0"],
  ["shared_nic_ps", "shared NIC", "#009e73"],
  ["pcie_ps", "PCIe", "#332288"],
  ["late_ps", "late rank", "#999999"],
];

export const lines = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/** ink is a colour of the theme, for canvases. */
export const ink = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
