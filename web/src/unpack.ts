// Rows from columns: internal/report/web/pack.go.

interface Column {
  one?: unknown;
  from?: number;
  step?: number;
  list?: string[];
  at?: number[];
  all?: unknown[];
}

interface Columns {
  rows: number;
  columns: Record<string, Column>;
}

function value(c: Column): (i: number) => unknown {
  if (c.all) return (i) => c.all![i];
  if (c.at) return (i) => c.list![c.at![i]];
  if (c.from !== undefined) return (i) => c.from! + i * (c.step ?? 0);
  return () => c.one;
}

/** rows makes the rows of a table. */
function rows(t: Columns): Record<string, unknown>[] {
  const fields = Object.entries(t.columns).map(([k, c]) => [k, value(c)] as const);
  return Array.from({ length: t.rows }, (_, i) => {
    const row: Record<string, unknown> = {};
    for (const [k, of] of fields) row[k] = of(i);
    return row;
  });
}

/** unpack makes the info of a run of what the server sends of it. */
export function unpack(p: any): any {
  const ports = rows(p.ports);
  const label = value(p.port_labels);
  for (const [i, row] of ports.entries()) row.name = p.port_names?.[i] ?? `${row.node}:${label(i)} → ${row.peer}`;
  const { nodes, links, nics } = p.topology;
  return { ...p, ports, topology: { ...p.topology, nodes: rows(nodes), links: rows(links), nics: rows(nics) } };
}
