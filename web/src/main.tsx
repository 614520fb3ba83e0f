import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Info, load, standalone, view } from "./api";
import { Compare } from "./compare";
import { acted, controls } from "./control";
import { Fabric } from "./fabric";
import * as f from "./format";
import { Life } from "./life";
import { New, Runs } from "./runs";
import { Packets } from "./packets";
import { address, useData, usePlace } from "./state";
import "./style.css";
import { TimeLine } from "./timeline";
import { pathsBy, transportOf } from "./transport";
import { Why } from "./why";

const views: Record<string, [string, (p: { info: Info }) => preact.JSX.Element]> = {
  fabric: ["Fabric", Fabric],
  timeline: ["Time line", TimeLine],
  why: ["Why", Why],
  packets: ["Packets", Packets],
  life: ["Life of a job", Life],
};

function App() {
  const place = usePlace();
  const [theme, change] = useState(localStorage.getItem("theme") ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem("theme", theme);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }, [theme]);
  const [page, name, what] = place.path;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        to the content
      </a>
      <header>
        <b>Railyard</b>
        {!standalone() && (
          <nav aria-label="pages">
            <a href={address(["runs"])} aria-current={!page || page === "runs" ? "page" : undefined}>
              Runs
            </a>
            <a href={address(["compare"])} aria-current={page === "compare" ? "page" : undefined}>
              Compare
            </a>
          </nav>
        )}
        <label class="theme">
          theme{" "}
          <select value={theme} onChange={(e) => change(e.currentTarget.value)}>
            <option value="">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
      </header>
      <main id="main" tabIndex={-1}>
        {standalone() ? (
          <OneRun name="" what={page && views[page] ? page : (what ?? "fabric")} />
        ) : page === "run" && name ? (
          <OneRun name={name} what={what ?? "fabric"} />
        ) : page === "compare" ? (
          <Compare />
        ) : page === "new" ? (
          <New />
        ) : (
          <Runs />
        )}
      </main>
    </>
  );
}

function OneRun({ name, what }: { name: string; what: string }) {
  const { data, error } = useData(() => view<Info>(name, "info"), [name]);
  if (error)
    return (
      <p class="error" role="alert" data-testid="broken">
        {error}
      </p>
    );
  if (!data) return <p class="hint">loading…</p>;
  const s = data.summary;
  const carried = transportOf(data);
  const [, View] = views[what] ?? views.fabric;
  return (
    <>
      <h1>
        {data.name} {!s.complete && <span class="tag">incomplete: this is what there is of it</span>}
        {s.outcome && <span class="tag">{s.outcome.ended}</span>}
        {(s.closed_chains?.standing ?? 0) > 0 && <span class="tag">deadlock</span>}
      </h1>
      <p class="figures" data-testid="figures">
        <span>
          step <b data-testid="step-time">{f.time(s.step_time_ps)}</b>
        </span>
        {!!s.mfu && (
          <span title="model flops utilisation: of what the GPUs could compute in that time">
            MFU <b>{f.percent(s.mfu)}</b>
          </span>
        )}
        <span>
          <b>{f.count(s.gpus)}</b> GPUs
        </span>
        <span title="packets that a switch marked because its queue was long">
          <b data-testid="marks">{f.count(s.ecn_marks)}</b> ECN marks
        </span>
        <span title="times that a switch or a NIC stopped a neighbour (PFC)">
          <b data-testid="pauses">{f.count(s.pfc_pauses)}</b> pauses
        </span>
        <span>
          <b>{f.count(s.drops)}</b> drops
        </span>
        {s.retransmissions > 0 && (
          <span>
            <b>{f.count(s.retransmissions)}</b> sent again
          </span>
        )}
      </p>
      <dl class="about" data-testid="about">
        <dt>transport</dt>
        <dd data-testid="transport">
          <b>{carried.name}.</b> {carried.means}
        </dd>
        <dt>paths</dt>
        <dd data-testid="paths">{pathsBy(s.lb)}</dd>
        {s.congestion_control && (
          <>
            <dt>congestion control</dt>
            <dd>
              {s.congestion_control}
              {controls(s).map((c) => (
                <span data-testid="control">; {acted(c)}</span>
              ))}
            </dd>
          </>
        )}
      </dl>
      <nav class="tabs" aria-label="views of the run">
        {Object.entries(views).map(([k, [title]]) => (
          <a
            href={standalone() ? address([k]) : address(["run", name, k])}
            aria-current={k === what ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <View info={data} />
      {data.manifest.limits?.map((l) => (
        <p class="hint">{l}</p>
      ))}
    </>
  );
}

load().finally(() => render(<App />, document.getElementById("app")!));
