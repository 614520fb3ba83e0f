import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { type Answer, type Info, standalone, view } from "./api";
import type { Messages, Told } from "./contract";
import { here, set, useData, usePlace } from "./state";
import { chapters } from "./chapters";
import { Passage } from "./passage";
import { Sequences, useSequence } from "./sequences";

const seconds = 24; // a chapter when played

/** scenes are the sequences of the chapters, in their order. */
const scenes = ["hosts", "rank", "setup", "packet", "ring", "setup", "packet", "mark", "completion", "rank"];

/** sceneOf is the sequence of a chapter: without a mark, what else delayed packets. */
function sceneOf(info: Info, chapter: number): string {
  const s = info.summary;
  const name = scenes[chapter] ?? "rank";
  if (name !== "mark" || s.cnps > 0) return name;
  return s.pfc_pauses > 0 ? "pause" : s.drops > 0 ? "nak" : name;
}

const travels = [6, 7]; // chapters of packets on their way

/** useScene is the queue pair that the chapter is about and a window of time: those of its sequence, else the slowest
 * message's where packets are on their way. Its port is that of the answer, if packets waited there. */
function useScene(info: Info, chapter: number, told?: Told) {
  const s = told?.sequence;
  const own = travels.includes(chapter) && s && !s.timeless && s.qp >= 0 && s.steps.length > 1;
  const ask = !own && travels.includes(chapter) && !standalone();
  const { data: answer } = useData(ask ? () => view<Answer>(info.name, "answer") : null, [info.name, ask]);
  const { data } = useData(ask ? () => view<Messages>(info.name, "messages") : null, [info.name, ask]);
  const whole = info.summary.step_time_ps;
  const window = (a: number, b: number, after: number) => ({
    from: Math.max(0, a - 0.1 * (b - a)),
    to: Math.min(whole, b + after * (b - a)),
  });
  if (own) {
    const [a, b] = [s.steps[0].at_ps, Math.max(...s.steps.map((x) => x.until_ps))];
    return { qp: s.qp, port: s.port, ...window(a, b, 0.4) };
  }
  const m = ask ? data?.messages[0] : undefined;
  if (!m || m.qp < 0) return undefined;
  const end = m.done_ps < 0 ? whole : m.done_ps;
  return { qp: m.qp, port: answer?.place?.port, ...window(m.posted_ps, end, 0.1), span: [m.posted_ps, end] as [number, number] };
}

export function Life({ info }: { info: Info }) {
  const place = usePlace();
  const at = Math.max(0, Math.min(scenes.length - 1, Number(place.args.get("chapter") ?? 1) - 1));
  const name = place.args.get("sequence") ?? sceneOf(info, at);
  const told = useSequence(info, name);
  const scene = useScene(info, at, told.data);
  const all = useMemo(() => chapters(info, scene?.port), [info, scene?.port]);
  const [playing, play] = useState(false);
  const [speech, speak] = useState(false);
  useData(() => view(info.name, "collectives"), [info.name]);
  const go = (i: number) => set({ chapter: Math.max(1, Math.min(all.length, i + 1)), sequence: undefined, step: undefined });
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => (at < all.length - 1 ? go(at + 1) : play(false)), seconds * 1000);
    return () => clearTimeout(timer);
  }, [playing, at]);
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
      else if (e.key === " " && !(e.target instanceof HTMLButtonElement)) play(!playing);
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [playing]);
  const c = all[at];
  const time = place.args.has("at") ? Number(place.args.get("at")) : undefined;
  return (
    <section aria-label="Life of a training job" class="life">
      <div class="bar">
        <button onClick={() => go(at - 1)} disabled={at === 0}>
          back
        </button>
        <button onClick={() => play(!playing)} aria-pressed={playing}>
          {playing ? "pause" : "play"}
        </button>
        <button onClick={() => go(at + 1)} disabled={at === all.length - 1}>
          next
        </button>
        <label>
          <input type="checkbox" checked={speech} onChange={(e) => speak(e.currentTarget.checked)} /> speak
        </label>
        <span class="hint">Arrows: back and next. Space: play. Hover a figure to see where it comes from.</span>
      </div>
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
        {c.finding && <small>: {c.finding}</small>}
      </h2>
      <div class="scene">
      <div class={`picture ${playing ? "moves" : ""}`} tabIndex={0} role="region" aria-label={c.title}>
        {scene ? <Passage info={info} {...scene} at={time} otherwise={c.picture} /> : c.picture}
      </div>
        <div class="captions" aria-live="polite">
          {c.lines.map((l) => (
            <p>{l}</p>
          ))}
        </div>
        <Sequences key={at} info={info} name={name} {...told} moving={playing} />
      </div>
    </section>
  );
}
