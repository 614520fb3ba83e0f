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

export const lines = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/** ink is a colour of the theme, for canvases. */
export const ink = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
