import { useEffect, useLayoutEffect, useState } from "preact/hooks";

// The whole state of a view is in the address behind #, so a link shows the same.
//   #/runs?filter=…   #/run/NAME/fabric?metric=queue&t=120&port=7   #/compare?runs=a,b
export interface Place { path: string[]; args: URLSearchParams }

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

/** set changes arguments of the present view; undefined removes one. */
export function set(changes: Record<string, string | number | undefined>, replace = true) {
  const p = parse(location.hash);
  const args: Record<string, string | number | undefined> = Object.fromEntries(p.args);
  Object.assign(args, changes);
  const to = address(p.path, args);
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

// Subscribed before the view can be seen, so that no key is faster than its listener.
export function usePlace(): Place {
  const [place, change] = useState(() => parse(location.hash));
  useLayoutEffect(() => {
    const f = () => change(parse(location.hash));
    addEventListener("hashchange", f);
    addEventListener("popstate", f);
    return () => {
      removeEventListener("hashchange", f);
      removeEventListener("popstate", f);
    };
  }, []);
  return place;
}

/** useData loads something and says what went wrong. */
export function useData<T>(get: (() => Promise<T>) | null, keys: unknown[]): { data?: T; error?: string } {
  const [state, change] = useState<{ data?: T; error?: string }>({});
  useEffect(() => {
    let live = true;
    if (get) get().then((data) => live && change({ data }), (e: Error) => live && change({ error: e.message }));
    else change({});
    return () => {
      live = false;
    };
  }, keys);
  return state;
}
