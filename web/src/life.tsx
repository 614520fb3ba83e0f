import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { type Info, view } from "./api";
import { here, set, useData, usePlace } from "./state";
import { chapters } from "./chapters";
import { Sequences } from "./sequences";

const seconds = 24; // a chapter when played

/** scenes are the sequences of the chapters, in their order. */
const scenes = ["rank", "rank", "setup", "packet", "ring", "setup", "packet", "mark", "completion", "rank"];

/** sceneOf is the sequence of a chapter: without a mark, what else delayed packets. */
function sceneOf(info: Info, chapter: number): string {
  const s = info.summary;
  const name = scenes[chapter] ?? "rank";
  if (name !== "mark" || s.cnps > 0) return name;
  return s.pfc_pauses > 0 ? "pause" : s.drops > 0 ? "nak" : name;
}

export function Life({ info }: { info: Info }) {
  const place = usePlace();
  const all = useMemo(() => chapters(info), [info]);
  const at = Math.max(0, Math.min(all.length - 1, Number(place.args.get("chapter") ?? 1) - 1));
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
        <ol class="chapters">
          {all.map((x, i) => (
            <li>
              <button aria-current={i === at ? "step" : undefined} onClick={() => go(i)} title={x.title}>
                {i + 1}
              </button>
            </li>
          ))}
        </ol>
        <span class="hint">
          arrows: back and next, space: play; about four minutes. Hover a figure to see where it comes from.
        </span>
      </div>
      <h2>
        {at + 1}. {c.title}
      </h2>
      <div class={`picture ${playing ? "moves" : ""}`} tabIndex={0} role="region" aria-label={c.title}>
        {c.picture}
      </div>
      <div class="scene">
      <div class="captions" aria-live="polite">
        {c.lines.map((l) => (
          <p>{l}</p>
        ))}
      </div>
        <Sequences key={at} info={info} first={sceneOf(info, at)} moving={playing} />
      </div>
    </section>
  );
}
