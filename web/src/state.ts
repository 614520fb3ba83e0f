import { useEffect, useLayoutEffect, useState } from "preact/hooks";

// The whole state of a view is in the address behind #, so a link shows the same.
//   #/runs?filter=…   #/run/NAME/fabric?metric=queue&t=120&port=7   #/compare?runs=a,b
export interface Place {
  path: string[];
  args: URLSearchParams;
}

export function parse(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decodeURIComponent), args: new URLSearchParams(query) };
}

export function address(path: string[], args: Record<string, string | number | undefined> = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(args)) if (v !== undefined && v !== "") q.set(k, String(v));
  const s = q.toString();
  return "#/" + path.map(encodeURIComponent).join("/") + (s ? "?" + s : "");
}

// The address that views show. The address bar follows it at most once in pause
// milliseconds: Chrome takes 200 changes in ten seconds and ignores the rest, which a
// playback of 60 steps a second would exceed.
const pause = 250;
let shown = location.hash;
let written = location.hash;
let last = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** here is the place that is shown, also where the address bar is not there yet. */
export const here = () => parse(shown);

function write() {
  clearTimeout(waiting);
  waiting = undefined;
  if (location.hash !== written) return; // a link was followed this very moment; its event comes
  last = performance.now();
  if (shown === written) return;
  history.replaceState(null, "", shown);
  written = location.hash;
}

// Somebody followed a link, went back, or typed an address.
for (const e of ["hashchange", "popstate"]) {
  addEventListener(
    e,
    (event) => {
      if (!event.isTrusted) return; // our own
      clearTimeout(waiting);
      waiting = undefined;
      shown = written = location.hash;
    },
    { capture: true },
  );
}
addEventListener("pagehide", write);

/** set changes arguments of the present view; undefined removes one. */
export function set(changes: Record<string, string | number | undefined>, replace = true) {
  const p = here();
  const args: Record<string, string | number | undefined> = Object.fromEntries(p.args);
  Object.assign(args, changes);
  const to = address(p.path, args);
  if (replace) {
    shown = to;
    waiting ??= setTimeout(write, Math.max(0, last + pause - performance.now()));
  } else {
    write();
    shown = to;
    history.pushState(null, "", to);
    written = location.hash;
  }
  dispatchEvent(new HashChangeEvent("hashchange"));
}

// Subscribed before the view can be seen, so that no key is faster than its listener.
export function usePlace(): Place {
  const [place, change] = useState(here);
  useLayoutEffect(() => {
    const f = () => change(here());
    addEventListener("hashchange", f);
    addEventListener("popstate", f);
    return () => {
      removeEventListener("hashchange", f);
      removeEventListener("popstate", f);
    };
  }, []);
  return place;
}

/** example is the run that the server simulates itself. */
export const example = "~example";

/** useData loads something and says what went wrong. */
export function useData<T>(get: (() => Promise<T>) | null, keys: unknown[]): { data?: T; error?: string } {
  const [state, change] = useState<{ data?: T; error?: string }>({});
  useEffect(() => {
    let live = true;
    if (get)
      get().then(
        (data) => live && change({ data }),
        (e: Error) => live && change({ error: e.message }),
      );
    else change({});
    return () => {
      live = false;
    };
  }, keys);
  return state;
}
