// Colours are tokens (tokens.css): a cause and a class keep theirs in every view.

/** causeColour is the colour of a cause, for styles. */
export const causeColour = (key: string) => `var(--c-${key})`;

const classes: Record<string, string> = {
  "data-loading": "storage",
  checkpoint: "storage",
  other: "transfer",
  waiting: "wait",
  compute: "forward",
};
/** kindToken is the token of a class of operations. */
export const kindToken = (c: string) => `--o-${classes[c] ?? c}`;

/** ink is a colour of the theme, for canvases. */
export const ink = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** load is the ramp of load, from 0 to 100 % of line rate. */
export const load = () => [0, 1, 2, 3, 4, 5, 6].map((i) => ink(`--l${i}`));

export const rgb = (colour: string): [number, number, number] => {
  const n = Number.parseInt(colour.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
};

/** between is the colour at a share from 0 to 1 of a ramp of #rrggbb. */
export function between(ramp: string[], v: number): string {
  const x = Math.max(0, Math.min(1, v)) * (ramp.length - 1);
  const i = Math.min(Math.floor(x), ramp.length - 2);
  const [a, b] = [rgb(ramp[i]), rgb(ramp[i + 1])];
  return `rgb(${a.map((p, k) => Math.round(p + (b[k] - p) * (x - i))).join(",")})`;
}

export const lines = ["#3f7cb8", "#d4502a", "#2b9a8b", "#a63d84", "#e2a112", "#8a9cea"];

/** pairs are colours and dashes of queue pairs: none is a cause's. */
export const pairs: [colour: string, dash: string][] = ["", "5 3"].flatMap((dash) => ["--ink", "--accent", "--ink-3"].map((c): [string, string] => [`var(${c})`, dash]));

/** Limits are the thresholds of a queue. */
export interface Limits {
  wred_min_bytes: number;
  wred_max_bytes: number;
}

/** queueTokens are the colours of a queue: empty, below WRED min, above it, above the middle, above WRED max. */
export const queueTokens = ["--q-empty", "--q-below", "--q-wred", "--q-mid", "--q-max"];

/** lineTokens are those of links, which are thin: the two shades above WRED min are one. */
export const lineTokens = ["--q-empty", "--q-below", "--q-mid", "--q-mid", "--q-max"];

/** queueStep is which of them a queue has. */
export function queueStep(bytes: number, t: Limits): number {
  if (bytes === 0) return 0;
  if (t.wred_min_bytes === 0 || bytes < t.wred_min_bytes) return 1;
  if (t.wred_max_bytes > 0 && bytes >= t.wred_max_bytes) return 4;
  return bytes < (t.wred_min_bytes + t.wred_max_bytes) / 2 ? 2 : 3;
}

/** table is 256 colours of a ramp. */
export const table = (ramp: string[]) => Array.from({ length: 256 }, (_, i) => between(ramp, i / 255));
