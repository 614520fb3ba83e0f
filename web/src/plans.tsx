import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import type { Failed, Found, Memory, MemoryForm, Searched } from "./contract";
import * as f from "./format";
import { address, set, useData, usePlace } from "./state";
import { useWidth } from "./stepbar";

const plans: [string, string][] = [
  ["memory", "Memory"],
  ["search", "Parallel configuration"],
  ["failures", "Failures"],
];

/** Plan is the plans that a form can ask for. */
export function Plan({ which }: { which?: string }) {
  const about = useData(api.about, []);
  const now = plans.some(([k]) => k === which) ? which! : "memory";
  const names = about.data?.names ?? {};
  const scenarios = about.data?.scenarios ?? {};
  return (
    <section aria-label="Plan" class="wrap plan">
      <nav class="subtabs" aria-label="plans">
        {plans.map(([k, title]) => (
          <a href={address(["plan", k])} aria-current={k === now ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {about.error && (
        <p class="error" role="alert">
          {about.error}
        </p>
      )}
      {about.data &&
        (now === "memory" ? (
          <MemoryPlan models={names["training.model"] ?? []} gpus={names.gpu ?? []} />
        ) : now === "search" ? (
          <SearchPlan models={names["training.model"] ?? []} scenarios={scenarios} />
        ) : (
          <FailuresPlan scenarios={scenarios} />
        ))}
    </section>
  );
}

/** Pick is a list of a form, kept in the address. */
const Pick = (props: { label: string; name: string; value: string; list: string[] }) => (
  <label>
    {props.label}
    <select value={props.value} onChange={(e) => set({ [props.name]: e.currentTarget.value })}>
      {props.list.map((x) => (
        <option>{x}</option>
      ))}
    </select>
  </label>
);

/** Size is a number of a form, kept in the address. */
const Size = (props: { label: string; name: string; value: number; least?: number; title?: string }) => (
  <label title={props.title}>
    {props.label}
    <input
      type="number"
      min={props.least ?? 1}
      value={props.value}
      onInput={(e) => set({ [props.name]: e.currentTarget.value || undefined })}
    />
  </label>
);

/** useAnswer asks a little after the last change, and keeps the last answer meanwhile. */
function useAnswer<T>(get: () => Promise<T>, keys: string): { data?: T; error: string } {
  const [state, change] = useState<{ data?: T; error: string }>({ error: "" });
  useEffect(() => {
    let live = true;
    const timer = setTimeout(
      () =>
        get().then(
          (data) => live && change({ data, error: "" }),
          (e: Error) => live && change((was) => ({ data: was.data, error: e.message })),
        ),
      300,
    );
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [keys]);
  return state;
}

const parts: [keyof Memory["stages"][0], string, string][] = [
  ["weight_bytes", "weights", "--c-line_rate"],
  ["gradient_bytes", "gradients", "--c-latency"],
  ["optimizer_bytes", "optimizer", "--c-incast"],
  ["activation_bytes", "activations", "--c-rate_not_given_back"],
  ["buffer_bytes", "buffers", "--c-sent_again"],
];

/** MemoryPlan is plan memory: what each stage of a configuration holds, against the GPU's memory. */
function MemoryPlan({ models, gpus }: { models: string[]; gpus: string[] }) {
  const { args } = usePlace();
  const number = (name: string, otherwise: number) => Number(args.get(name) ?? otherwise);
  const form: MemoryForm = {
    model: args.get("model") ?? (models.includes("gpt3-175b") ? "gpt3-175b" : models[0]),
    gpu: args.get("gpu") ?? (gpus.includes("h100") ? "h100" : gpus[0]),
    tp: number("tp", 8),
    pp: number("pp", 8),
    dp: number("dp", 16),
    cp: number("cp", 1),
    ep: number("ep", 1),
    vpp: number("vpp", 1),
    zero: number("zero", 1),
    recompute: args.get("recompute") ?? "selective",
    schedule: args.get("schedule") ?? "1f1b",
    micro_batch: number("micro", 1),
    sequence: number("sequence", 2048),
    microbatches: number("microbatches", 8),
  };
  const { data, error } = useAnswer(() => api.planMemory(form), JSON.stringify(form));
  return (
    <>
      <h1 data-testid="verdict">
        {data
          ? `${data.model} ${data.fits ? "fits" : "does not fit"}: ${f.bytes(data.worst_bytes)} of ${f.bytes(data.gpu_memory_bytes)} on ${data.gpu.toUpperCase()} (${share(data)} may be filled).`
          : "Memory of a parallel configuration"}
      </h1>
      <div class="form">
        <Pick label="model" name="model" value={form.model} list={models} />
        <Pick label="GPU" name="gpu" value={form.gpu} list={gpus} />
        <Size label="TP" name="tp" value={form.tp} title="tensor parallel size" />
        <Size label="PP" name="pp" value={form.pp} title="pipeline stages" />
        <Size label="DP" name="dp" value={form.dp} title="data parallel replicas" />
        <Size label="CP" name="cp" value={form.cp} title="context parallel size" />
        <Size label="EP" name="ep" value={form.ep} title="expert parallel size" />
        <Size label="VPP" name="vpp" value={form.vpp} title="virtual stages per rank" />
        <Size label="ZeRO" name="zero" value={form.zero} least={0} title="ZeRO stage, 0 to 3" />
        <Pick label="recompute" name="recompute" value={form.recompute} list={["none", "selective", "full"]} />
        <Pick label="schedule" name="schedule" value={form.schedule} list={["1f1b", "gpipe", "interleaved", "zero-bubble", "2bw"]} />
        <Size label="microbatch" name="micro" value={form.micro_batch} title="sequences per microbatch" />
        <Size label="microbatches" name="microbatches" value={form.microbatches} title="per replica and step" />
        <Size label="sequence" name="sequence" value={form.sequence} title="tokens per sequence" />
      </div>
      {error && (
        <p class="error" role="alert" data-testid="refused">
          {error}
        </p>
      )}
      {data && <Stages of={data} />}
      {data && (
        <p class="note">
          {f.plural(data.gpus, "GPU")}, {f.count(data.parameters)} parameters. The same in a shell:{" "}
          <code>
            railyard plan memory {form.model} --gpu {form.gpu} --tp {form.tp} --pp {form.pp} --dp {form.dp}
            {form.cp > 1 && ` --cp ${form.cp}`}
            {form.ep > 1 && ` --ep ${form.ep}`}
            {form.vpp > 1 && ` --vpp ${form.vpp}`} --zero {form.zero} --recompute {form.recompute} --schedule {form.schedule}{" "}
            --micro-batch {form.micro_batch} --microbatches {form.microbatches} --sequence {form.sequence}
          </code>
        </p>
      )}
    </>
  );
}

/** The part of a GPU's memory that a configuration may fill. */
const share = (of: Memory) => `${Math.round((100 * of.limit_bytes) / of.gpu_memory_bytes)} %`;

/** Stages are bars of memory by stage with the limit of a GPU's memory as a line. */
function Stages({ of }: { of: Memory }) {
  const { box, width } = useWidth(900);
  const total = (s: Memory["stages"][0]) => parts.reduce((n, [k]) => n + s[k], 0);
  const top = Math.max(of.gpu_memory_bytes, ...of.stages.map(total)) * 1.04;
  const left = 74;
  const x = (b: number) => left + (b / top) * (width - left - 86);
  const row = of.stages.length > 24 ? 14 : 26;
  const shown = of.stages.slice(0, 128);
  const base = shown.length * row + 18;
  return (
    <>
      <p class="kinds">
        {parts
          .filter(([k]) => of.stages.some((s) => s[k] > 0))
          .map(([, name, token]) => (
            <span>
              <i style={{ background: `var(${token})` }} />
              {name}
            </span>
          ))}
      </p>
      <div class="plot" ref={box} data-testid="stages">
        <svg width={width} height={base + 22} role="img" aria-label="memory of the stages">
          {f.ticks(0, top, 5).map((t) => (
            <>
              <path class="grid" d={`M${x(t)} 14V${base}`} />
              <text x={x(t)} y={base + 14} text-anchor={t === 0 ? "start" : "middle"}>
                {f.bytes(t)}
              </text>
            </>
          ))}
          {shown.map((s, i) => {
            const y = i * row + 18;
            let at = 0;
            return (
              <g data-stage={s.stage} data-bytes={total(s)}>
                <text class={s.stage === of.worst_stage ? "b" : ""} x={0} y={y + row / 2 + 2}>
                  {(row > 20 || i % 4 === 0) && `stage ${s.stage}`}
                </text>
                {parts.map(([k, name, token]) => {
                  const from = x(at);
                  at += s[k];
                  return (
                    s[k] > 0 && (
                      <rect x={from} y={y} width={Math.max(0.5, x(at) - from - 0.5)} height={row - 5} fill={`var(${token})`}>
                        <title>{`${name} ${f.bytes(s[k])}`}</title>
                      </rect>
                    )
                  );
                })}
                {row > 20 && (
                  <text class={s.stage === of.worst_stage ? "b" : ""} x={x(at) + 6} y={y + row / 2 + 2}>
                    {f.bytes(total(s))}
                  </text>
                )}
              </g>
            );
          })}
          <path d={`M${x(of.limit_bytes)} 12V${base}`} stroke="var(--bad)" stroke-width={2} stroke-dasharray="5 3" />
          <text class="b" x={x(of.limit_bytes)} y={9} text-anchor="end">
            {share(of)} of {f.bytes(of.gpu_memory_bytes)}
          </text>
        </svg>
      </div>
      {of.stages.length > shown.length && <p class="note">The first {shown.length} of {of.stages.length} stages.</p>}
    </>
  );
}

/** Fabric is the scenario of a form: a shipped one, or one that is pasted. */
function useFabric(scenarios: Record<string, string>, otherwise: string) {
  const { args } = usePlace();
  const [own, write] = useState("");
  const list = Object.keys(scenarios).sort();
  const name = args.get("fabric") ?? (list.includes(otherwise) ? otherwise : list[0]);
  const pasted = name === "pasted";
  const control = (
    <>
      <Pick label="scenario" name="fabric" value={name} list={[...list, "pasted"]} />
      {pasted && (
        <label class="wideopt">
          pasted or dropped
          <textarea
            rows={6}
            class="mono"
            value={own}
            spellcheck={false}
            aria-label="scenario"
            onInput={(e) => write(e.currentTarget.value)}
            onDragOver={(e) => e.preventDefault()}
            onDrop={(e) => {
              const file = e.dataTransfer?.files[0];
              if (!file) return;
              e.preventDefault();
              file.text().then(write);
            }}
          />
        </label>
      )}
    </>
  );
  return { name, text: pasted ? own : (scenarios[name] ?? ""), control };
}

const times: [keyof Found, string, string][] = [
  ["compute_seconds", "compute", "--c-compute"],
  ["optimizer_seconds", "optimizer", "--o-optimizer"],
  ["bubble_seconds", "bubble", "--o-wait"],
  ["exposed_tensor_seconds", "exposed TP", "--o-tensor-parallel"],
  ["exposed_pipeline_seconds", "exposed PP", "--o-pipeline-parallel"],
  ["exposed_data_seconds", "exposed DP", "--o-data-parallel"],
  ["exposed_expert_seconds", "exposed EP", "--o-expert-parallel"],
  ["exposed_context_seconds", "exposed CP", "--o-context-parallel"],
];

/** SearchPlan is plan search by the cost model: the fastest configurations of a training on a fabric. */
function SearchPlan({ models, scenarios }: { models: string[]; scenarios: Record<string, string> }) {
  const { args } = usePlace();
  const fabric = useFabric(scenarios, "pod64-llama2-7b.yaml");
  const number = (name: string, otherwise: number) => Number(args.get(name) ?? otherwise);
  const form = {
    model: args.get("model") ?? (models.includes("llama-3.1-70b") ? "llama-3.1-70b" : models[0]),
    global_batch: number("batch", 256),
    sequence: number("sequence", 8192),
    gpus: number("gpus", 0),
  };
  const { data, error } = useAnswer(() => api.planSearch(form, fabric.text), JSON.stringify([form, fabric.text]));
  const best = data?.candidates[0];
  return (
    <>
      <h1 data-testid="verdict">
        {data
          ? best
            ? `${form.model} trains fastest with ${best.name}: ${f.time(best.step_seconds * 1e12)} a step, MFU ${f.percent(best.mfu)}.`
            : "No configuration fits."
          : "The fastest parallel configuration"}
      </h1>
      <div class="form">
        <Pick label="model" name="model" value={form.model} list={models} />
        {fabric.control}
        <Size label="global batch" name="batch" value={form.global_batch} title="sequences per step" />
        <Size label="sequence" name="sequence" value={form.sequence} title="tokens per sequence" />
        <Size label="GPUs" name="gpus" value={form.gpus || (data?.gpus ?? 0)} title="of the scenario" />
      </div>
      {error && (
        <p class="error" role="alert" data-testid="refused">
          {error}
        </p>
      )}
      {data && <Configurations of={data} model={form.model} sequence={form.sequence} />}
    </>
  );
}

/** Configurations are those found, each with its step by part. */
function Configurations({ of, model, sequence }: { of: Searched; model: string; sequence: number }) {
  const top = Math.max(...of.candidates.map((c) => c.step_seconds), 1e-12);
  const [most, more] = useState(12);
  const present = times.filter(([k]) => of.candidates.slice(0, most).some((c) => (c[k] as number) > 0));
  const sum = of.rejected.reduce((n, r) => n + r.count, 0);
  return (
    <>
      <p class="note">
        {f.count(of.tried)} configurations of {f.plural(of.gpus, "GPU")} tried, {f.count(of.feasible)} feasible; estimated by the cost
        model, not simulated.
      </p>
      <p class="kinds">
        {present.map(([, name, token]) => (
          <span>
            <i style={{ background: `var(${token})` }} />
            {name}
          </span>
        ))}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="configurations">
        <table class="tight" data-testid="candidates">
          <thead>
            <tr>
              <th>configuration</th>
              <th class="wide">step</th>
              <th class="n">time</th>
              <th class="n">MFU</th>
              <th class="n">memory</th>
            </tr>
          </thead>
          <tbody>
            {of.candidates.slice(0, most).map((c) => (
              <tr data-step={c.step_seconds}>
                <th scope="row">
                  <a
                    href={address(["plan", "memory"], {
                      model,
                      tp: c.layout.tp,
                      pp: c.layout.pp,
                      dp: c.layout.dp,
                      cp: c.layout.cp,
                      ep: c.layout.ep,
                      vpp: c.layout.vpp,
                      zero: c.layout.zero,
                      recompute: c.layout.recompute,
                      schedule: c.layout.schedule,
                      micro: c.layout.micro_batch,
                      microbatches: c.layout.microbatches,
                      sequence,
                    })}
                  >
                    {c.name}
                  </a>
                </th>
                <td class="wide">
                  <div class="splitbar" role="img" aria-label={times.filter(([k]) => (c[k] as number) > 0).map(([k, name]) => `${name} ${f.time((c[k] as number) * 1e12)}`).join(", ")}>
                    {times.map(([k, , token]) => (
                      <span style={{ width: `${(100 * (c[k] as number)) / top}%`, background: `var(${token})` }} />
                    ))}
                  </div>
                </td>
                <td class="n">{f.time(c.step_seconds * 1e12)}</td>
                <td class="n">{f.percent(c.mfu)}</td>
                <td class="n">{f.bytes(c.memory_bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {of.candidates.length > most && <button onClick={() => more(most + 40)}>show more</button>}
      </div>
      {sum > 0 && (
        <details>
          <summary>{f.count(sum)} infeasible</summary>
          <ul class="note">
            {of.rejected.map((r) => (
              <li>
                {f.count(r.count)} {r.reason} ({r.example})
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const kinds = ["link", "switch", "nic", "server"];

/** FailuresPlan is plan failures: every single failure of a kind, one of each class of equivalent elements. */
function FailuresPlan({ scenarios }: { scenarios: Record<string, string> }) {
  const fabric = useFabric(scenarios, "three-flows.yaml");
  const [on, choose] = useState(["switch", "link"]);
  const [data, have] = useState<Failed | undefined>(undefined);
  const [error, fail] = useState("");
  const [since, begin] = useState(0);
  const [, tick] = useState(0);
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    if (!since) return;
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, [since]);
  useEffect(() => () => stop.current?.abort(), []);
  const go = () => {
    stop.current = new AbortController();
    begin(performance.now());
    fail("");
    api
      .planFailures({ kinds: on }, fabric.text, stop.current.signal)
      .then(have, (e: Error) => fail(e.message))
      .finally(() => begin(0));
  };
  const first = data?.failures[0];
  return (
    <>
      <h1 data-testid="verdict">
        {data && first
          ? first.rank_lost
            ? `${first.name} isolates ${f.plural(first.isolated_gpus, "GPU")}: the job fails.`
            : `Worst: ${first.name}, step ${f.time((first.step_seconds ?? 0) * 1e12)} (${f.changePercent((first.step_seconds ?? 0) / data.step_seconds - 1)}).`
          : "What does a failure cost?"}
      </h1>
      <div class="form">
        {fabric.control}
        <fieldset>
          <legend>what fails</legend>
          {kinds.map((k) => (
            <label>
              <input
                type="checkbox"
                checked={on.includes(k)}
                onChange={(e) => choose(e.currentTarget.checked ? [...on, k] : on.filter((x) => x !== k))}
              />{" "}
              {k}
            </label>
          ))}
        </fieldset>
        <button class="button primary" disabled={since > 0 || on.length === 0 || !fabric.text} onClick={go}>
          Simulate
        </button>
        {(on.length === 0 || !fabric.text) && (
          <span class="note" data-testid="missing">
            {on.length === 0 ? "Select at least one kind: link, switch, nic or server." : "Paste or drop a scenario first."}
          </span>
        )}
        {since > 0 && (
          <>
            <span class="note" aria-live="polite">
              simulating, {Math.round((performance.now() - since) / 1000)} s of at most 120
            </span>
            <button onClick={() => stop.current?.abort()}>Cancel</button>
          </>
        )}
      </div>
      {error && (
        <p class="error" role="alert" data-testid="refused">
          {error}
        </p>
      )}
      {!data && !error && since === 0 && (
        <p class="empty">
          Simulate takes the step without a failure, then again with one element of each class of equivalent elements down, at most
          120 s. The worst comes first: what it costs the step, or how many GPUs it isolates.
        </p>
      )}
      {data && <Harm of={data} />}
    </>
  );
}

/** Harm is classes of failures by what they cost. */
function Harm({ of }: { of: Failed }) {
  const top = Math.max(of.step_seconds, ...of.failures.map((r) => r.step_seconds ?? 0));
  const ps = (s: number) => f.time(s * 1e12);
  return (
    <>
      <p class="note">
        Step without a failure {ps(of.step_seconds)}; fails at {ps(of.at_seconds)}. {f.plural(of.totals.elements, "element")},{" "}
        {of.totals.single_points > 0 ? f.plural(of.totals.single_points, "single point") + " of failure" : "no single point of failure"}.
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="failures by harm">
        <table class="tight" data-testid="harm">
          <thead>
            <tr>
              <th>worst of its class</th>
              <th>kind</th>
              <th class="n">equivalent</th>
              <th class="wide">step</th>
              <th class="n">time</th>
              <th class="n">change</th>
              <th class="n">retransmitted</th>
            </tr>
          </thead>
          <tbody>
            {of.failures.map((r) => (
              <tr>
                <th scope="row">{r.name}</th>
                <td>
                  {r.kind}
                  {r.tier && `, ${r.tier}`}
                </td>
                <td class="n">{f.count(r.alike)}</td>
                <td class="wide">
                  {r.rank_lost ? (
                    <span class="sev error">job fails: {f.plural(r.isolated_gpus, "GPU")} isolated</span>
                  ) : (
                    <div class="splitbar">
                      <span style={{ width: `${(100 * Math.min(of.step_seconds, r.step_seconds ?? 0)) / top}%`, background: "var(--c-compute)" }} />
                      <span style={{ width: `${(100 * Math.max(0, (r.step_seconds ?? 0) - of.step_seconds)) / top}%`, background: "var(--c-failed_capacity)" }} />
                    </div>
                  )}
                </td>
                <td class="n">{r.step_seconds ? ps(r.step_seconds) : "–"}</td>
                <td class="n">{r.step_seconds ? f.changePercent(r.step_seconds / of.step_seconds - 1) : "–"}</td>
                <td class="n">{r.bytes_sent_again > 0 ? f.bytes(r.bytes_sent_again) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {of.notes.length > 0 && (
        <ul class="note">
          {of.notes.map((n) => (
            <li>{f.begin(n)}.</li>
          ))}
        </ul>
      )}
    </>
  );
}
