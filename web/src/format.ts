// Figures as people read them. Times are picoseconds, rates bits per second.

function scaled(v: number, step: number, units: string[]): string {
  let i = 0;
  while (Math.abs(v) >= step && i < units.length - 1) {
    v /= step;
    i++;
  }
  const digits = Math.abs(v) >= 100 || Number.isInteger(v) ? 0 : Math.abs(v) >= 10 ? 1 : 2;
  return `${v.toFixed(digits)} ${units[i]}`;
}

export const time = (ps: number) => (ps === 0 ? "0 s" : scaled(ps, 1000, ["ps", "ns", "µs", "ms", "s"]));
export const bytes = (b: number) => scaled(b, 1000, ["B", "KB", "MB", "GB", "TB", "PB"]);
export const rate = (bps: number) => scaled(bps, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);
export const count = (n: number) => n.toLocaleString("en-US");
export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
export const when = (iso: string) => (iso ? new Date(iso).toLocaleString() : "");
