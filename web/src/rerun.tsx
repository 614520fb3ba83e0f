import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import { type Info } from "./api";
import type { Messages, Trace } from "./contract";
import { byFlow, unsimulated } from "./flow";
import * as f from "./format";
import { useData } from "./state";

type Message = Messages["messages"][number];

/** Rerun is buttons that simulate a run again until a trace has ended, and then open what it recorded. */
export function Rerun(props: {
  info: Info;
  choices: [label: string, trace: Trace][];
  says: string;
  to: (run: string) => string;
  primary: boolean;
}) {
  const { info } = props;
  const [trace, pick] = useState(props.choices[0][1]);
  const [id, start] = useState("");
  const [error, fail] = useState("");
  const [tick, again] = useState(0);
  const jobs = useData(id ? api.jobs : null, [id, tick]);
  const job = (jobs.data ?? []).find((j) => j.id === id);
  useEffect(() => {
    if (!id) return;
    const timer = setInterval(() => again((t) => t + 1), 400);
    return () => clearInterval(timer);
  }, [id]);
  useEffect(() => {
    if (job?.state === "done" && job.run) location.hash = props.to(job.run);
    if (job?.state === "failed" || job?.state === "cancelled") {
      fail(job.error || "The simulation was cancelled.");
      start("");
    }
  }, [job?.state]);
  const go = (trace: Trace) => {
    fail("");
    pick(trace);
    api.startTrace(info.name, trace).then(
      (j) => start(j.id),
      (e: Error) => fail(e.message),
    );
  };
  const share = job && trace.to_ps > 0 ? Math.min(1, job.now_ps / trace.to_ps) : 0;
  return (
    <div class="followbar" data-testid="follow">
      {props.choices.map(([label, trace], i) => (
        <button key={label} class={props.primary && i === 0 ? "button primary" : "button"} onClick={() => go(trace)} disabled={!!id}>
          {label}
        </button>
      ))}
      <p class="note">
        {id ? (
          <>
            <progress value={share} max={1} aria-label="simulated" /> {f.percent(share)} of {f.time(trace.to_ps)}
          </>
        ) : (
          props.says
        )}
      </p>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** unfollowable says why a run has no packets that could be followed; "": it has some. */
export function unfollowable(info: Info): string {
  const s = info.summary;
  if (byFlow(info)) return unsimulated("packets");
  if (s.fidelity && s.fidelity !== "packet")
    return "This run did not simulate every packet. Run it with fidelity=packet to follow one.";
  if (s.scheduled) return "Inside a scheduled fabric there are cells and no packets to follow.";
  return "";
}

/** traced is what follows the first, the middle and the last packet of a message until the message has ended. */
export function traced(info: Info, m: Message, capture: string[]): Trace {
  const follow = [0, Math.floor(m.packets / 2), m.packets - 1]
    .filter((n, i, all) => all.indexOf(n) === i)
    .map((n) => `${m.qp}/+${m.first_packet + n}`);
  const end = m.done_ps < 0 ? info.span_ps : m.done_ps;
  return { follow, capture, from_ps: m.posted_ps, to_ps: end, stop: true };
}

/** searched is a trace of the packet of a message that a search finds. */
export const searched = (trace: Trace, m: Message, by: string): Trace => ({
  ...trace,
  follow: [m.packets > 1 ? `${m.qp}/${by}:${m.first_packet}-${m.first_packet + m.packets - 1}` : `${m.qp}/+${m.first_packet}`],
});
