import { render } from "preact";
import { Answer } from "./answer";
import { Check } from "./check";
import { Plan } from "./plans";
import { type Info, load, standalone, view } from "./api";
import { Compare } from "./compare";
import { Fabric } from "./fabric";
import * as f from "./format";
import { Life } from "./life";
import { Study } from "./many";
import { New, Runs } from "./runs";
import { Packets } from "./packets";
import { address, example, useData, usePlace } from "./state";
import "./style.css";
import { toggle } from "./theme";
import { TimeLine } from "./timeline";
import { transportOf } from "./transport";

const views: Record<string, [string, (p: { info: Info }) => preact.JSX.Element]> = {
  answer: ["Answer", Answer],
  time: ["Time", TimeLine],
  fabric: ["Fabric", Fabric],
  packet: ["Packet", Packets],
  life: ["Life", Life],
};

// What views share stays in the address when the view changes: the window of time, and the time looked at.
const brush = (args: URLSearchParams) =>
  Object.fromEntries(["from", "to", "at"].map((k) => [k, args.get(k) ?? undefined]));

function App() {
  const { path, args } = usePlace();
  const alone = standalone();
  const [page, run, chosen] = path;
  const name = alone ? "" : page === "run" ? run : page === "compare" ? args.get("runs")?.split(",")[0] : undefined;
  const what = alone ? (views[page] ? page : "answer") : (chosen ?? "answer");
  const asked = name === undefined ? null : () => view<Info>(name, "info").then((info) => ({ info, name }), (e: Error) => ({ error: e.message, name }));
  const { data: all } = useData<{ name: string; info?: Info; error?: string }>(asked, [name]);
  // What was loaded for the run before is of another run: no view may combine the two.
  const { info: data, error } = all && all.name === name ? all : {};
  const here = page === "compare" ? "compare" : page === "run" || alone ? (views[what] ? what : "answer") : page;
  const to = (k: string) => address(alone ? [k] : ["run", name!, k], brush(args));
  const [, View] = views[here ?? ""] ?? views.answer;
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
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={alone ? to("answer") : address(["runs"])}>
          <Mark />
          Railyard
        </a>
        <span class="which">{name !== undefined && data && <Which info={data} />}</span>
        <nav class="tabs" aria-label="views">
          {name !== undefined ? (
            <>
              {Object.entries(views).map(([k, [title]]) => (
                <>
                  {k === "life" && !alone && (
                    <a
                      href={here === "compare" ? location.hash : address(["compare"], { runs: name })}
                      aria-current={here === "compare" ? "page" : undefined}
                    >
                      Compare
                    </a>
                  )}
                  <a href={to(k)} aria-current={k === here ? "page" : undefined}>
                    {title}
                  </a>
                </>
              ))}
            </>
          ) : (
            [
              ["runs", "Runs"],
              ["new", "New run"],
              ["check", "Check"],
              ["plan", "Plan"],
            ]
              .map(([k, title]) => (
                <a href={address([k])} aria-current={(here ?? "runs") === k ? "page" : undefined}>
                  {title}
                </a>
              ))
              .concat(<a href={address(["run", example, "life"])}>Life</a>)
          )}
        </nav>
        <button class="icon" onClick={toggle} aria-label="Light or dark theme" title="Light or dark theme">
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
            <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
          </svg>
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {page === "compare" && !alone ? (
          <Compare />
        ) : name !== undefined ? (
          error ? (
            <p class="error" role="alert" data-testid="broken">
              {error}
            </p>
          ) : data ? (
            <View info={data} key={name} />
          ) : (
            <p class="loading">Loading {name}…</p>
          )
        ) : page === "study" && run && !alone ? (
          <Study name={run} key={run} />
        ) : page === "check" ? (
          <Check />
        ) : page === "plan" ? (
          <Plan which={run} />
        ) : page === "new" ? (
          <New />
        ) : (
          <Runs />
        )}
      </main>
    </>
  );
}

/** Mark is two rails and three ties. */
const Mark = () => (
  <svg viewBox="0 0 15 16" aria-hidden="true">
    <path d="M2 0v16M7.5 0v16M13 0v16" stroke="currentColor" stroke-width="1.8" />
    <path d="M0 11 4 4.5M5.5 11l4-6.5M11 11l4-6.5" stroke="var(--c-hash_collision)" stroke-width="1.6" />
  </svg>
);

/** Which names a run and says the facts of it that every view needs. */
function Which({ info }: { info: Info }) {
  const s = info.summary;
  const control = (s.cc ?? []).find((c) => c.algorithm !== "none")?.algorithm.toUpperCase();
  const carried = transportOf(info);
  return (
    <>
      <b title={info.name}>{info.name.replace(/^~/, "")}</b>
      {s.fidelity && s.fidelity !== "packet" && <span class="tag">{s.fidelity} fidelity</span>}
      {!s.complete && <span class="tag">incomplete</span>}
      {s.outcome && <span class="tag">{s.outcome.ended}</span>}
      {(s.closed_chains?.standing ?? 0) > 0 && <span class="tag">deadlock</span>}
      <span class="opt">
        {" · "}
        {[
          f.plural(s.gpus, "GPU"),
          carried.key === "roce" ? "" : carried.name,
          s.lb.toUpperCase().length <= 5 ? s.lb.toUpperCase() : s.lb,
          carried.name.startsWith(control ?? "–") ? "" : control,
          `seed ${s.seed}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
    </>
  );
}

load().finally(() => render(<App />, document.getElementById("app")!));
