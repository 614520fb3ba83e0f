// Figures as people read them: three significant digits, a non-breaking space before the unit, U+2212 for minus.
// Times are picoseconds, rates bits per second.

const nb = "\u00a0";

/** digits writes three significant digits of a number from 1 to 999, whole numbers as they are. */
export const digits = (v: number) => {
  const a = Math.abs(v);
  return v.toFixed(a >= 99.95 || Number.isInteger(v) ? 0 : a >= 9.995 ? 1 : 2).replace("-", "−");
};

function scaled(v: number, units: string[]): string {
  let i = 0;
  while (Math.abs(v) >= 999.5 && i < units.length - 1) {
    v /= 1000;
    i++;
  }
  return digits(v) + nb + units[i];
}

export const time = (ps: number) => (ps === 0 ? `0${nb}s` : scaled(ps, ["ps", "ns", "µs", "ms", "s"]));
export const bytes = (b: number) => scaled(b, ["B", "KB", "MB", "GB", "TB", "PB"]);
export const rate = (bps: number) => scaled(bps, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);
/** count is exact to 99,999. */
export const count = (n: number) => {
  if (Math.abs(n) < 100_000) return n.toLocaleString("en-US");
  const units = ["k", "M", "G", "T"];
  let i = -1;
  do {
    n /= 1000;
    i++;
  } while (Math.abs(n) >= 999.5 && i < units.length - 1);
  return digits(n) + nb + units[i];
};
export const percent = (share: number) => `${(100 * share).toFixed(1).replace("-", "−")}${nb}%`;
/** change is a difference with its sign. */
export const change = (ps: number) => (ps > 0 ? "+" : ps < 0 ? "−" : "") + time(Math.abs(ps));
/** changePercent is a change in percent, of tenfold and more as a factor. */
export const changePercent = (share: number) => (share >= 9.995 ? `× ${count(Math.round(share + 1))}` : (share > 0 ? "+" : "") + percent(share));
/** points is a difference of percentages, in percentage points. */
export const points = (share: number) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1).replace("-", "−")}${nb}pp`;
export const when = (iso: string) => (iso ? new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "");
export const plural = (n: number, what: string) => `${count(n)}${nb}${what}${n === 1 ? "" : "s"}`;
/** whole keeps a name on one line. */
export const whole = (name: string) => name.replaceAll("-", "\u2011");
/** begin writes a sentence's first letter large. */
export const begin = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

/** ticks are round values (1, 2, 5 × 10^n) between two, about n of them. */
export function ticks(from: number, to: number, n: number): number[] {
  const rough = (to - from) / Math.max(1, n);
  if (!(rough > 0)) return [];
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * base).find((s) => s >= rough)!;
  const out: number[] = [];
  for (let v = Math.ceil(from / step - 1e-9) * step; v <= to + step * 1e-9; v += step) out.push(v);
  return out;
}

/** nice is the next round value (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 × 10^n) from a value on, the top of a scale. */
export function nice(v: number): number {
  if (!(v > 0)) return 1;
  const base = 10 ** Math.floor(Math.log10(v) + 1e-12);
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((k) => k * base).find((s) => s >= v * (1 - 1e-9))!;
}

const units: [number, string][] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];
const unitOf = (to: number) => units.find(([s]) => to >= s) ?? units[4];

/** timeWithin writes a time in a window in the unit of its axis, to a hundredth of the window or finer. */
export function timeWithin(at: number, from: number, to: number): string {
  const [scale, unit] = unitOf(to);
  return (at / scale).toFixed(Math.max(0, 2 - Math.floor(Math.log10((to - from) / scale)))) + nb + unit;
}

/** axis is ticks of time with labels in one unit. */
export function axis(from: number, to: number, n: number): { at: number; label: string }[] {
  const [scale, unit] = unitOf(to);
  const all = ticks(from / scale, to / scale, n);
  return all.map((v, i) => ({
    at: v * scale,
    label: String(Math.round(v * 1e6) / 1e6) + (i === all.length - 1 ? nb + unit : ""),
  }));
}

/** verb is a verb behind a cause's name, which may be a plural: PFC pauses cost, incast costs. */
export const verb = (name: string, does: string) => (/[^s]s$/.test(name) ? does : `${does}s`);
