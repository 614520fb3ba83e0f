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
    <svg viewBox="0 32 880 72" role="img" aria-label={boxes.map((b) => b[0]).join(", then ")}>
      {boxes.map((_, i) => (
        <g>
          <rect x={10 + i * w} y={40} width={w - 24} height={56} rx={6} class="box" />
          {i < boxes.length - 1 && (
            <line x1={10 + i * w + w - 24} y1={68} x2={10 + (i + 1) * w} y2={68} class="wire" />
          )}
        </g>
      ))}
      <circle r={7} cx={10} cy={68} class={`dot ${slow ? "slow" : ""} ${back ? "back" : ""}`} />
      {boxes.map(([name, note], i) => (
        <g>
          <text x={10 + i * w + (w - 24) / 2} y={note ? 66 : 73} text-anchor="middle" style={fits(name, 14)}>
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

export function Bars({ rows: all }: { rows: [string, number, string][] }) {
  const rows = all.filter((r) => r[1] > 0);
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

/** Copies is a message's way out of GPU memory by kernel TCP and by RDMA: each dashed box holds a copy of its bytes. The
 * way that this run took is outlined. */
export function Copies({ tcp, direct }: { tcp: boolean; direct: boolean }) {
  const rows: { name: string; says: string; boxes: [string, string][]; own: boolean }[] = [
    {
      name: "Kernel TCP",
      says: direct ? "0 copies by cores, system calls and interrupts at both hosts" : "2 copies at each host, system calls and interrupts",
      boxes: [["GPU memory", "source"], ["host memory", "copy 1, DMA"], ["socket buffer", "copy 2, by a core"], ["NIC", "segments"]],
      own: tcp,
    },
    {
      name: "RDMA",
      says: "0 copies, no core takes part",
      boxes: [["GPU memory", "source"], ["NIC", "reads by DMA"]],
      own: !tcp,
    },
  ];
  return (
    <svg viewBox="0 0 1000 236" role="img" aria-label={rows.map((r) => `${r.name}: ${r.boxes.map((b) => b[0]).join(", then ")}: ${r.says}`).join(". ")}>
      {rows.map((r, i) => {
        const y = 30 + i * 118;
        const xs = r.boxes.length === 2 ? [0, 3] : [0, 1, 2, 3];
        return (
          <g>
            <text x={0} y={y - 10} class="b">
              {r.name}
              {r.own ? " (this run)" : ""}
            </text>
            <text x={970} y={y - 10} text-anchor="end" class="note">
              {r.says}
            </text>
            <line x1={150} x2={970} y1={y + 28} y2={y + 28} class={r.own ? "wire own" : "wire faint"} />
            {r.boxes.map(([name, note], k) => (
              <g>
                <rect x={xs[k] * 230} y={y} width={160} height={56} rx={6} class={`box ${note.startsWith("copy") ? "dashed" : ""} ${r.own ? "" : "faint"}`} />
                <text x={xs[k] * 230 + 80} y={y + 25} text-anchor="middle">
                  {name}
                </text>
                <text x={xs[k] * 230 + 80} y={y + 43} text-anchor="middle" class="note">
                  {note}
                </text>
              </g>
            ))}
            <text x={978} y={y + 33}>→</text>
            {r.own && <circle r={6} cx={20} cy={y + 28} class="dot" />}
          </g>
        );
      })}
    </svg>
  );
}

const shown = 16; // servers drawn with their ranks

/** Laid is the ranks on their servers, as a scheduler starts them: a frame is a server, a square a GPU with its rank. */
export function Laid({ hosts, tp }: { hosts: { name: string; gpus: number }[]; tp: number }) {
  const per = Math.max(1, ...hosts.map((h) => h.gpus));
  let rank = 0;
  return (
    <div class="laid">
      <pre>
        $ sbatch --nodes={hosts.length} --gpus-per-node={per} train.sh{"\n"}
        {`MASTER_ADDR=${hosts[0]?.name ?? "node01"} MASTER_PORT=29500 WORLD_SIZE=${hosts.reduce((n, h) => n + h.gpus, 0)}`}
      </pre>
      <ol>
        {hosts.slice(0, shown).map((h, i) => (
          <li>
            <b>{h.name}</b>
            {i === 0 && <small> rendezvous, port 29500</small>}
            <div>
              {Array.from({ length: h.gpus }, () => {
                const r = rank++;
                return (
                  <span class={tp > 1 && Math.floor(r / tp) % 2 === 1 ? "other" : ""} title={`rank ${r}`}>
                    {r}
                  </span>
                );
              })}
            </div>
          </li>
        ))}
      </ol>
      {hosts.length > shown && (
        <p class="note">
          The first {shown} of {hosts.length} servers.
        </p>
      )}
    </div>
  );
}

/** Fields is a packet's headers one above the other: bytes, and what the fields of each mean. */
export function Fields({ rows }: { rows: { name: string; bytes: string; fields: string; means: string }[] }) {
  return (
    <table class="owners headerstack">
      <thead>
        <tr>
          <th>header</th>
          <th>bytes</th>
          <th>fields</th>
          <th>meaning</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr>
            <td>
              <b>{r.name}</b>
            </td>
            <td>{r.bytes}</td>
            <td>{r.fields}</td>
            <td>{r.means}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
