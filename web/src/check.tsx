import { useState } from "preact/hooks";
import * as api from "./api";
import type { Evidence, Finding, LintFinding, Linted, Read, Report } from "./contract";
import * as f from "./format";
import { useData } from "./state";

const most = 20 << 20; // bytes that are sent at once
const rows = 12; // of pauses and drops
const first = 6; // findings of a diagnosis before the rest is folded

/** dropped reads files, and folders with all that is in them; names keep their folders (before/leaf1.txt). */
async function dropped(items: DataTransferItemList): Promise<api.Text[]> {
  const out: api.Text[] = [];
  const read = async (e: FileSystemEntry): Promise<void> => {
    if (e.isFile) {
      const file = await new Promise<File>((yes, no) => (e as FileSystemFileEntry).file(yes, no));
      out.push({ name: e.fullPath.replace(/^\//, ""), text: await file.text() });
      return;
    }
    const reader = (e as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, no));
      if (some.length === 0) return;
      for (const x of some) await read(x);
    }
  };
  // The list is empty as soon as something is awaited.
  const entries = [...items].map((i) => i.webkitGetAsEntry()).filter((e) => e !== null);
  for (const e of entries) await read(e);
  return out;
}

/** Check takes configurations and outputs of show commands: it lints the first, diagnoses the second. */
export function Check() {
  const about = useData(api.about, []);
  const [files, hold] = useState<api.Text[]>([]);
  const [text, write] = useState("");
  const [fabric, choose] = useState("");
  const [found, find] = useState<Read | undefined>(undefined);
  const [asked, ask] = useState<api.Text[]>([]);
  const [error, fail] = useState("");
  const [busy, wait] = useState(false);
  const all = [...files, ...(text.trim() ? [{ name: "pasted.txt", text }] : [])];
  const size = all.reduce((n, t) => n + t.text.length, 0);
  const add = (more: api.Text[]) => hold([...files.filter((x) => !more.some((m) => m.name === x.name)), ...more]);
  const go = () => {
    wait(true);
    api
      .texts(all, (fabric && about.data?.scenarios[fabric]) || "")
      .then(
        (r) => {
          fail("");
          ask(all);
          find(r);
        },
        (e: Error) => {
          find(undefined);
          fail(e.message);
        },
      )
      .finally(() => wait(false));
  };
  return (
    <section
      aria-label="Check"
      class="wrap check"
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        if (e.dataTransfer) dropped(e.dataTransfer.items).then(add, (x: Error) => fail(x.message));
      }}
    >
      <p class="eyebrow">Check · configurations and counters</p>
      <h1 data-testid="verdict">{verdict(found)}</h1>
      <p class="lede">
        Drop configurations of switches and hosts, or the output of show commands, also in folders <code>before</code> and{" "}
        <code>after</code>; or paste one. The server keeps nothing.
      </p>
      <textarea
        rows={found ? 4 : 9}
        aria-label="configuration or output of show commands"
        placeholder={"leaf1# show running-config\n…"}
        value={text}
        spellcheck={false}
        class="mono"
        onInput={(e) => write(e.currentTarget.value)}
      />
      {files.length > 0 && (
        <ul class="files" data-testid="files">
          {files.slice(0, 60).map((x) => (
            <li>
              {x.name}{" "}
              <button class="plain" aria-label={`remove ${x.name}`} onClick={() => hold(files.filter((y) => y !== x))}>
                ×
              </button>
            </li>
          ))}
          {files.length > 60 && <li>{files.length - 60} more</li>}
        </ul>
      )}
      <div class="bar">
        <button class="button primary" disabled={all.length === 0 || busy || size > most} onClick={go}>
          {busy ? "Checking…" : "Check"}
        </button>
        <Files label="files" words="Choose files" add={add} />
        <Files label="folder" words="Choose a folder" add={add} folder />
        <label class="note">
          against the fabric of{" "}
          <select value={fabric} aria-label="fabric" onChange={(e) => choose(e.currentTarget.value)}>
            <option value="">no scenario</option>
            {Object.keys(about.data?.scenarios ?? {})
              .sort()
              .map((n) => (
                <option>{n}</option>
              ))}
          </select>
        </label>
        {all.length > 0 && (
          <span class="note">
            {f.plural(all.length, "file")}, {f.bytes(size)}
            {size > most && `; at most ${f.bytes(most)} are sent`}
          </span>
        )}
      </div>
      {error && (
        <p class="error" role="alert" data-testid="refused">
          {error}
        </p>
      )}
      {found?.lint && <Lint of={found.lint} texts={asked} />}
      {found?.diagnosis && <Diagnosis of={found.diagnosis} />}
    </section>
  );
}

/** Files lets files be chosen, or all of a folder. */
const Files = (props: { label: string; words: string; folder?: boolean; add: (list: api.Text[]) => void }) => (
  <label class="button">
    {props.words}
    <input
      type="file"
      multiple
      {...(props.folder ? { webkitdirectory: true } : {})}
      class="hidden"
      aria-label={props.label}
      onChange={(e) => {
        const input = e.currentTarget;
        Promise.all(
          [...(input.files ?? [])].map(async (x) => ({ name: x.webkitRelativePath || x.name, text: await x.text() })),
        ).then((list) => {
          props.add(list);
          input.value = "";
        });
      }}
    />
  </label>
);

/** verdict is what was found, in one line. */
function verdict(found: Read | undefined): string {
  if (found?.lint) {
    const n = (s: string) => found.lint!.findings.filter((x) => x.severity === s).length;
    const parts = (
      [
        ["error", n("error")],
        ["warning", n("warning")],
        ["note", n("info")],
      ] as [string, number][]
    )
      .filter(([, k]) => k > 0)
      .map(([what, k]) => f.plural(k, what));
    return `${parts.join(", ") || "No finding"} in ${f.plural(found.lint.devices.length, "configuration")}.`;
  }
  const first = found?.diagnosis?.findings?.[0];
  if (first) return f.begin(first.says) + ".";
  if (found?.diagnosis?.undecided) return `Undecided: ${found.diagnosis.undecided}.`;
  const missed = found?.diagnosis?.incomplete?.length;
  if (missed) return `No fault in what could be read; ${f.plural(missed, "device")} incomplete.`;
  if (found?.diagnosis) return `No fault in the counters of ${f.plural(found.diagnosis.devices, "device")}.`;
  return "Lint configurations, diagnose counters";
}

/** Lint is findings, errors first, each with the line that it is about. */
function Lint({ of, texts }: { of: Linted; texts: api.Text[] }) {
  const line = (x: LintFinding) => {
    const t = texts.find((t) => t.name === x.file);
    return x.line > 0 && t ? t.text.split(/\r\n|\n|\r/)[x.line - 1] : undefined;
  };
  // The same in several lines is said once.
  const groups = new Map<string, LintFinding[]>();
  for (const x of of.findings) {
    const key = [x.file, x.rule, x.message, x.ports].join("\u0000");
    groups.set(key, [...(groups.get(key) ?? []), x]);
  }
  return (
    <div data-testid="lint">
      <ol class="findings">
        {[...groups.values()].slice(0, 60).map((list) => {
          const x = list[0];
          const excerpt = line(x);
          return (
            <li class={x.severity} data-rule={x.rule}>
              <p>
                <span class={`sev ${x.severity}`}>{x.severity === "info" ? "note" : x.severity}</span> <b>{x.message}</b>
              </p>
              <p class="note mono">
                {x.file}
                {x.line > 0 && `:${list.slice(0, 8).map((y) => y.line).join(", ")}`}
                {list.length > 8 && ` and ${list.length - 8} more`}
                {x.ports && ` · ${x.ports}`} · {x.rule}
              </p>
              {excerpt !== undefined && <pre>{excerpt}</pre>}
              <p>
                <span class="label">Cause</span> {x.why}
              </p>
              <p>
                <span class="label">Remedy</span> {x.fix}
              </p>
            </li>
          );
        })}
      </ol>
      {groups.size > 60 && <p class="note">{groups.size - 60} more findings, of which none is graver.</p>}
      <div class="head">
        <h2>Read</h2>
        <p class="note">RoCE data in DSCP {of.data_dscp}</p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="configurations that were read">
        <table class="tight">
          <thead>
            <tr>
              <th>device</th>
              <th>file</th>
              <th>language</th>
              <th class="n">lines understood</th>
            </tr>
          </thead>
          <tbody>
            {of.devices.slice(0, 200).map((d) => (
              <tr>
                <th scope="row">{d.name}</th>
                <td class="mono">{d.file}</td>
                <td>{d.host ? "host" : d.os}</td>
                <td class="n">{d.host ? "–" : `${f.count(d.known)} of ${f.count(d.lines)}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Notes list={[...of.ignored.map((s) => `Ignored: ${s}`), ...(of.unread ? [of.unread] : [])]} />
    </div>
  );
}

/** Diagnosis is causes with their evidence, then who pauses whom and what was lost. */
function Diagnosis({ of }: { of: Report }) {
  const edges = of.pauses ?? [];
  const drops = of.drops ?? [];
  return (
    <div data-testid="diagnosis">
      <ol class="findings">
        {(of.findings ?? []).slice(0, first).map((x) => (
          <Cause of={x} />
        ))}
      </ol>
      {of.findings?.length > first && (
        <details>
          <summary>{f.plural(of.findings.length - first, "more finding")}</summary>
          <ol class="findings">
            {of.findings.slice(first, 200).map((x) => (
              <Cause of={x} />
            ))}
          </ol>
        </details>
      )}
      {edges.length > 0 && (
        <>
          <div class="head">
            <h2>PFC pauses</h2>
            {edges.length > rows && <p class="note">{rows} of {f.count(edges.length)}</p>}
          </div>
          <div class="scroll" tabIndex={0} role="region" aria-label="PFC pauses">
            <table class="tight">
              <thead>
                <tr>
                  <th>from</th>
                  <th>pauses</th>
                  <th class="n">priority</th>
                  <th class="n">frames</th>
                  <th class="n">per second</th>
                </tr>
              </thead>
              <tbody>
                {edges.slice(0, rows).map((e) => (
                  <tr>
                    <th scope="row">
                      {e.from}
                      {e.begins && <span class="tag">root</span>}
                    </th>
                    <td>{e.to}</td>
                    <td class="n">{e.class}</td>
                    <td class="n">{f.count(e.frames)}</td>
                    <td class="n">{e.per_second ? f.count(Math.round(e.per_second)) : "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      {drops.length > 0 && (
        <>
          <div class="head">
            <h2>Drops</h2>
            {drops.length > rows && <p class="note">{rows} of {f.count(drops.length)}</p>}
          </div>
          <div class="scroll" tabIndex={0} role="region" aria-label="drops">
            <table class="tight">
              <tbody>
                {drops.slice(0, rows).map((d) => (
                  <tr>
                    <th scope="row">{d.port}</th>
                    <td>
                      {d.ingress ? "ingress" : "egress"}
                      {d.class >= 0 && `, priority ${d.class}`}
                      {d.lossless && <span class="tag">lossless</span>}
                    </td>
                    <td class="n">{f.plural(d.packets, "packet")}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      <p class="note">
        Read: {f.plural(of.devices, "device")}, {f.plural(of.ports, "port")}.
      </p>
      <Notes list={[...(of.incomplete ?? []).map((x) => `Incomplete: ${x.device}: ${x.why}`), ...of.notes]} />
    </div>
  );
}

/** shown is an evidence: the counter, its values and where it was read. */
const shown = (e: Evidence) =>
  [
    `${e.device}${e.port ? ` ${e.port}` : ""}`,
    e.counter
      ? `${e.counter} ${e.before !== undefined ? `${f.count(e.before)} → ` : ""}${f.count(e.after ?? 0)}`
      : (e.says ?? ""),
    e.per_second ? `${f.count(Math.round(e.per_second))}/s` : "",
    e.file ? `${e.file}${e.line ? `:${e.line}` : ""}` : "",
  ]
    .filter(Boolean)
    .join(" · ");

/** Cause is a finding of a diagnosis. */
function Cause({ of }: { of: Finding }) {
  const evidence = of.evidence ?? [];
  const next = of.next ?? [];
  return (
    <li class={of.grade === "fault" ? "error" : "warning"} data-cause={of.cause}>
      <p>
        <span class={`sev ${of.grade === "fault" ? "error" : "warning"}`}>{of.grade}</span> <b>{of.says}</b>{" "}
        <span class="note">{of.sure}</span>
      </p>
      <p>
        <span class="label">Cause</span> {of.why}
      </p>
      <p>
        <span class="label">Remedy</span> {of.fix}
      </p>
      {evidence.length > 0 && (
        <ul class="evidence note mono">
          {evidence.slice(0, 12).map((e) => (
            <li>{shown(e)}</li>
          ))}
        </ul>
      )}
      {next.length > 0 && (
        <p class="note">
          Next:{" "}
          {next.map((s) => (
            <>
              <code>
                {s.device}# {s.command}
              </code>{" "}
              {s.why}.{" "}
            </>
          ))}
        </p>
      )}
    </li>
  );
}

const Notes = ({ list }: { list: string[] }) =>
  list.length > 0 ? (
    <details>
      <summary>{f.plural(list.length, "note")}</summary>
      <ul class="note">
        {list.slice(0, 100).map((n) => (
          <li>{n}</li>
        ))}
      </ul>
    </details>
  ) : null;
