import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { type Answer, type Info, standalone, view } from "./api";
import type { Messages, Told } from "./contract";
import { here, set, useData, usePlace } from "./state";
import { slowestOf } from "./causes";
import { chapters } from "./chapters";
import { byFlow } from "./flow";
import { Passage } from "./passage";
import { Ends, Kinds, Known, Pair, pairSteps, Stack, stackRows, Transfers, useRecorded } from "./scenes";
import { possible, rings, Sequences, useSequence } from "./sequences";

const pace = 700; // ms of a step when played
const pauseAfter = 6000; // at a scene's end
const seconds = 24; // of a scene when nothing may move

/** scenes are the sequences of the chapters, in their order; "": the picture has steps of its own. */
const scenes = ["hosts", "rank", "", "", "ring", "setup", "packet", "mark", "completion", ""];

/** sceneOf is the sequence of a chapter: without a mark, what else delayed packets; none of a ring where none ran. */
function sceneOf(info: Info, chapter: number): string {
  const s = info.summary;
  const name = scenes[chapter] ?? "rank";
  if (byFlow(info) || name === "ring") return possible(info, name) ? name : "";
  if (name !== "mark" || s.cnps > 0) return name;
  return s.pfc_pauses > 0 ? "pause" : s.drops > 0 ? "nak" : name;
}

/** gathers reports whether a run has a collective other than transfers. */
const gathers = (info: Info) => (info.summary.collectives ?? []).some((c) => c.kind !== "send-recv" && c.algorithm);

const journey = 6; // the chapter of the slowest message
const travels = [journey, 7]; // chapters of packets on their way

/** useScene is the queue pair that the chapter is about and a window of time: those of its sequence, else the slowest
 * message's where packets are on their way. The journey's text is of the slowest message, and so is its picture. Its port is that of the answer, if packets waited there. */
function useScene(info: Info, chapter: number, told?: Told) {
  const s = told?.sequence;
  const list = useData(chapter === journey && !standalone() ? () => view<Messages>(info.name, "messages") : null, [info.name, chapter]);
  const slow = list.data && slowestOf(info, list.data.messages);
  const other = chapter === journey && s && slow && s.qp !== slow.qp;
  const own = travels.includes(chapter) && s && !s.timeless && s.qp >= 0 && s.steps.length > 1 && !other;
  const ask = !own && (byFlow(info) ? [journey] : travels).includes(chapter) && !standalone();
  const { data: answer } = useData(ask ? () => view<Answer>(info.name, "answer") : null, [info.name, ask]);
  const { data } = useData(ask ? () => view<Messages>(info.name, "messages") : null, [info.name, ask]);
  const whole = info.span_ps;
  const window = (a: number, b: number, after: number) => ({
    from: Math.max(0, a - 0.1 * (b - a)),
    to: Math.min(whole, b + after * (b - a)),
  });
  if (own) {
    const [a, b] = [s.steps[0].at_ps, Math.max(...s.steps.map((x) => x.until_ps))];
    return { qp: s.qp, port: s.port, ...window(a, b, 0.4) };
  }
  const m = ask && data ? slowestOf(info, data.messages) : undefined;
  if (!m || m.qp < 0) return undefined;
  const end = m.done_ps < 0 ? whole : m.done_ps;
  return { qp: m.qp, port: answer?.place?.port, ...window(m.posted_ps, end, 0.1), span: [m.posted_ps, end] as [number, number] };
}

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function Life({ info }: { info: Info }) {
  const place = usePlace();
  const at = Math.max(0, Math.min(scenes.length - 1, Number(place.args.get("chapter") ?? 1) - 1));
  const asked = place.args.get("sequence");
  const scene0 = asked ?? sceneOf(info, at);
  const told = useSequence(info, scene0);
  // A ring over NVLink too has no record of all its transfers: then its chapter is the table of collectives.
  const ringless = !rings(info) || (!asked && scene0 === "ring" && !!told.data && !told.data.sequence);
  const name = ringless && scene0 === "ring" && !asked ? "" : scene0;
  const s = told.data?.sequence;
  const scene = useScene(info, at, told.data);
  const recorded = useRecorded(info);
  const all = useMemo(() => chapters(info, scene?.port), [info, scene?.port]);
  const rows = stackRows(info, recorded);
  const steps = s ? s.steps.length : asked ? 0 : at === 2 ? pairSteps : at === 3 ? rows.length : 0;
  const step = Math.max(0, Math.min(steps, Number(place.args.get("step") ?? steps)));
  const [playing, play] = useState(false);
  const [speech, speak] = useState(false);
  useData(() => view(info.name, "collectives"), [info.name]);
  /** toStep shows a step: the time that all views look at is the step's. */
  const toStep = (n: number) => set(s && !s.timeless && n > 0 ? { step: n, at: s.steps[n - 1]?.at_ps } : { step: n });
  const go = (i: number, step?: number) => set({ chapter: Math.max(1, Math.min(all.length, i + 1)), sequence: undefined, step });
  // Where the one scrubber stands: scenes have equal room, and so have the steps of each.
  const stands = 1000 * (at + (steps > 0 ? Math.min(step / steps, 0.999) : 0));
  const scrub = (v: number) => {
    const to = Math.min(all.length - 1, Math.floor(v / 1000));
    if (to !== at) return go(to, v > stands ? 0 : undefined);
    if (steps > 0) toStep(Math.round(((v - 1000 * to) / 999) * steps));
  };
  useEffect(() => {
    if (!playing) return;
    const next = () => (at < all.length - 1 ? go(at + 1, still() ? undefined : 0) : play(false));
    const timer = still() ? setTimeout(next, seconds * 1000) : step < steps ? setTimeout(() => toStep(step + 1), pace) : setTimeout(next, pauseAfter);
    return () => clearTimeout(timer);
  }, [playing, at, step, steps]);
  const start = () => {
    if (!playing && !still() && step === steps) set({ step: 0 });
    play(!playing);
  };
  useEffect(() => {
    if (!speech || !("speechSynthesis" in window)) return;
    speechSynthesis.cancel();
    speechSynthesis.speak(
      new SpeechSynthesisUtterance(
        `${all[at].title}. ${document.querySelector(".captions")?.textContent ?? ""}`,
      ),
    );
    return () => speechSynthesis.cancel();
  }, [speech, at]);
  useLayoutEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement) return;
      const at = Number(here().args.get("chapter") ?? 1) - 1; // keys can be faster than this page is drawn
      if (e.key === "ArrowRight") go(at + 1);
      else if (e.key === "ArrowLeft") go(at - 1);
      else if (e.key === " " && !(e.target instanceof HTMLButtonElement)) start();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [playing, step, steps]);
  const c = all[at];
  const time = place.args.has("at") ? Number(place.args.get("at")) : undefined;
  const mtu = Number(info.manifest.resolved["transport.mtu"] ?? 4096);
  const picture = asked
    ? c.picture
    : at === 2
      ? <Pair info={info} r={recorded} at={step} />
      : at === 3 && rows.length > 0
        ? <Stack rows={rows} at={step} mtu={mtu} />
        : at === 4 && ringless
          ? gathers(info) ? (
              <div class="split even">
                {c.picture}
                <Kinds info={info} />
              </div>
            ) : (
              <Transfers info={info} r={recorded} />
            )
          : at === 5 && s && recorded.p && s.steps.some((x) => x.label.includes("QPN"))
            ? <Known info={info} r={recorded} s={s} at={step} />
            : at === 8 && s
              ? <Ends s={s} at={step} />
              : c.picture;
  const solo = !s;
  return (
    <section aria-label="Life of a training job" class="life">
      <div class="bar">
        <button onClick={() => go(at - 1)} disabled={at === 0}>
          back
        </button>
        <button onClick={start} aria-pressed={playing}>
          {playing ? "pause" : "play"}
        </button>
        <button onClick={() => go(at + 1)} disabled={at === all.length - 1}>
          next
        </button>
        <label>
          <input type="checkbox" checked={speech} onChange={(e) => speak(e.currentTarget.checked)} /> speak
        </label>
        <span class="hint">Arrows: back and next. Space: play. Hover a figure to see where it comes from.</span>
        <output class="hint">{steps > 0 && `step ${step} of ${steps}`}</output>
      </div>
      <input
        class="scrubber"
        type="range"
        min={0}
        max={1000 * all.length - 1}
        value={stands}
        data-steps={steps}
        aria-label="scene and step"
        aria-valuetext={`${c.title}${steps > 0 ? `, step ${step} of ${steps}` : ""}`}
        onInput={(e) => scrub(Number(e.currentTarget.value))}
      />
      <ol class="chapters">
        {all.map((x, i) => (
          <li>
            <button aria-current={i === at ? "step" : undefined} onClick={() => go(i)} title={x.title}>
              <b>{i + 1}</b> <span>{x.title}</span>
            </button>
          </li>
        ))}
      </ol>
      <h2>
        {at + 1}. {c.title}
        {c.finding && <small>{typeof c.finding === "string" ? `: ${c.finding}` : c.finding}</small>}
      </h2>
      <div class={solo ? "scene solo" : "scene"}>
        <div class={`picture ${playing ? "moves" : ""}`} tabIndex={0} role="region" aria-label={c.title}>
          {scene ? <Passage info={info} {...scene} at={time} otherwise={c.picture} /> : picture}
        </div>
        <div class="captions" aria-live="polite">
          {c.lines.map((l) => (
            <p>{l}</p>
          ))}
        </div>
        <Sequences key={at} info={info} name={name} {...(name === scene0 ? told : {})} at={step} />
      </div>
    </section>
  );
}
