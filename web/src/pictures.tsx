/** A figure of the tale: where it comes from stands in its title. */
export function Fig({ v, from, cited }: { v: string; from: string; cited?: boolean }) {
  return (
    <b
      class={cited ? "fig cited" : "fig"}
      tabIndex={0}
      title={(cited ? "cited: " : "computed from this run: ") + from}
    >
      {v}
    </b>
  );
}

/** Chain is boxes in a row with something that travels through them. */
export function Chain({ boxes, back, slow }: { boxes: [string, string?][]; back?: boolean; slow?: boolean }) {
  const w = 860 / boxes.length;
  // Words are no wider than their box.
  const fits = (words: string, most: number) => ({ fontSize: `${Math.min(most, (w - 32) / (0.58 * words.length))}px` });
  return (
    <svg viewBox="0 0 880 150" role="img" aria-label={boxes.map((b) => b[0]).join(", then ")}>
      {boxes.map((_, i) => (
        <g>
          <rect x={10 + i * w} y={40} width={w - 24} height={56} rx={6} class="box" />
          {i < boxes.length - 1 && (
            <line x1={10 + i * w + w - 24} y1={68} x2={10 + (i + 1) * w} y2={68} class="wire" />
          )}
        </g>
      ))}
      <circle r={7} cx={20} cy={68} class={`dot ${slow ? "slow" : ""} ${back ? "back" : ""}`} />
      {boxes.map(([name, note], i) => (
        <g>
          <text x={10 + i * w + (w - 24) / 2} y={66} text-anchor="middle" style={fits(name, 14)}>
            {name}
          </text>
          {note && (
            <text x={10 + i * w + (w - 24) / 2} y={84} text-anchor="middle" class="note" style={fits(note, 11)}>
              {note}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

/** ringed is how many ranks of a ring are drawn one by one; of more the last few stand behind a gap. */
const ringed = 40;

export function Ring({ ranks, name }: { ranks: number; name: string }) {
  // Of a larger ring those are drawn that fit, and the last one, with a gap before it.
  const all = Array.from({ length: ranks <= ringed ? ranks : ringed - 3 }, (_, i) => [i, i]);
  const n = Math.min(ranks, ringed);
  if (ranks > ringed) all.push([ringed - 1, ranks - 1]);
  const size = Math.min(16, Math.max(6, (Math.PI * 88) / n));
  const at = (i: number) => [
    440 + 88 * Math.sin((2 * Math.PI * i) / n),
    110 - 88 * Math.cos((2 * Math.PI * i) / n),
  ];
  return (
    <svg class="round" viewBox="330 0 420 220" role="img" aria-label={`a ring of ${ranks} ranks`}>
      <ellipse cx={440} cy={110} rx={88} ry={88} class="wire dashed" />
      {all.map(([i, rank]) => {
        const [x, y] = at(i);
        return (
          <g class="ranked">
            <circle cx={x} cy={y} r={size} class="box" />
            <text x={x} y={y + size / 4} text-anchor="middle" style={{ fontSize: `${Math.min(12, size)}px` }}>
              {rank}
            </text>
          </g>
        );
      })}
      <text x={570} y={114}>
        {name}
      </text>
      <circle r={6} class="dot orbit" />
    </svg>
  );
}

/** Mesh is everyone sending to everyone, or to a root. */
export function Mesh({ ranks, name, star }: { ranks: number; name: string; star?: boolean }) {
  const n = Math.min(ranks, 8);
  const others = Array.from({ length: n }, (_, i) => i);
  const wires = others.flatMap((i) => others.filter((k) => k > i && (!star || i === 0)).map((k) => [i, k]));
  const at = (i: number) => [
    440 + 88 * Math.sin((2 * Math.PI * i) / n),
    110 - 88 * Math.cos((2 * Math.PI * i) / n),
  ];
  return (
    <svg class="round" viewBox="330 0 420 220" role="img" aria-label={`${ranks} ranks, ${name}`}>
      {wires.map(([i, k]) => (
        <line x1={at(i)[0]} y1={at(i)[1]} x2={at(k)[0]} y2={at(k)[1]} class="wire" />
      ))}
      {Array.from({ length: n }, (_, i) => {
        const [x, y] = at(i);
        return (
          <g>
            <circle cx={x} cy={y} r={16} class="box" />
            <text x={x} y={y + 4} text-anchor="middle">
              {i}
            </text>
          </g>
        );
      })}
      <text x={560} y={114}>
        {name}
      </text>
    </svg>
  );
}

export function Bars({ rows }: { rows: [string, number, string][] }) {
  const top = Math.max(...rows.map((r) => r[1]), 1);
  return (
    <svg
      viewBox={`0 0 880 ${rows.length * 34 + 10}`}
      role="img"
      aria-label={rows.map((r) => `${r[0]} ${r[2]}`).join(", ")}
    >
      {rows.map(([name, v, text], i) => (
        <g>
          <text x={200} y={i * 34 + 24} text-anchor="end">
            {name}
          </text>
          <rect x={210} y={i * 34 + 8} width={Math.max(1, (v / top) * 480)} height={22} class="amount" />
          <text x={220 + (v / top) * 480} y={i * 34 + 24}>
            {text}
          </text>
        </g>
      ))}
    </svg>
  );
}
