// Where in a scenario a cursor is, and what can stand there by the schema: block and flow style, keys and values.

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  examples?: unknown[];
  description?: string;
}

/** A place is the keys above a cursor, "[]" for an element of a list, and what is being typed there. */
export interface Spot {
  path: string[];
  key: boolean; // a key, else a value
  typed: string;
}

interface Level {
  indent: number;
  key: string;
}

/** spot finds the place at the end of a text. */
export function spot(text: string): Spot {
  const blocks: Level[] = [];
  const flow: { list: boolean; key: string }[] = []; // open brackets, with the key that waits for a value
  let word = ""; // what is typed since the last mark of the syntax
  let key = true;
  const lines = text.split("\n");
  for (const [n, whole] of lines.entries()) {
    const last = n === lines.length - 1;
    let line = bare(whole);
    if (!last && line.trim() === "" && flow.length === 0) continue;
    if (flow.length === 0) {
      let indent = /^ */.exec(line)![0].length;
      line = line.slice(indent);
      if (!/^-( |$)/.test(line)) while (blocks.length > 0 && blocks[blocks.length - 1].indent >= indent) blocks.pop();
      for (let dash; (dash = /^-( +|$)/.exec(line)); ) {
        // A list may stand as far left as its key.
        while (blocks.length > 0) {
          const top = blocks[blocks.length - 1];
          if (top.indent < indent || (top.indent === indent && top.key !== "[]")) break;
          blocks.pop();
        }
        blocks.push({ indent, key: "[]" });
        indent += dash[0].length;
        line = line.slice(dash[0].length);
      }
      word = line;
      key = true;
      const m = /^([\w.-]+):( +|$)/.exec(line);
      if (m) {
        blocks.push({ indent, key: m[1] });
        word = line.slice(m[0].length);
        key = false;
        if (!last && word === "") continue;
        line = word;
      } else if (!/^[[{]/.test(line)) continue;
    }
    for (const c of line) {
      const top = flow[flow.length - 1];
      if (c === "{" || c === "[") {
        flow.push({ list: c === "[", key: "" });
        word = "";
      } else if (c === "}" || c === "]") {
        flow.pop();
        word = "";
      } else if (c === "," && top) {
        top.key = "";
        word = "";
      } else if (c === ":" && top && !top.list && top.key === "") {
        top.key = word.trim();
        word = "";
      } else if (flow.length > 0) word += c;
    }
    if (flow.length === 0) word = "";
    if (last && flow.length === 0 && !/[[{]/.test(line)) word = line;
  }
  const path = blocks.map((b) => b.key);
  for (const [i, b] of flow.entries()) {
    if (b.list) path.push("[]");
    else if (b.key !== "" || i < flow.length - 1) path.push(b.key);
  }
  const top = flow[flow.length - 1];
  if (top) key = !top.list && top.key === "";
  return { path, key, typed: word.trimStart() };
}

/** bare is a line without its comment. */
function bare(line: string): string {
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "#" && (i === 0 || line[i - 1] === " ")) return line.slice(0, i);
  }
  return line;
}

/** all is a schema and its alternatives. */
const all = (s: Schema | undefined): Schema[] =>
  s ? [s, ...[...(s.anyOf ?? []), ...(s.oneOf ?? [])].flatMap(all)] : [];

/** at follows a path into a schema. */
function at(root: Schema, path: string[]): Schema[] {
  let here = all(root);
  for (const key of path)
    here = here.flatMap((s) =>
      key === "[]"
        ? all(s.items)
        : all(s.properties?.[key] ?? (typeof s.additionalProperties === "object" ? s.additionalProperties : undefined)),
    );
  return here;
}

export interface Option {
  label: string;
  key: boolean;
  detail?: string;
}

/** options lists what can stand at a place; names are values that the schema does not list, by the end of their key. */
export function options(root: Schema, names: Record<string, string[]>, place: Spot): Option[] {
  const here = at(root, place.path);
  const out = new Map<string, Option>();
  if (place.key)
    for (const s of here)
      for (const [label, p] of Object.entries(s.properties ?? {}))
        out.set(label, { label, key: true, detail: p.description?.slice(0, 60) });
  if (!place.key || here.some((s) => s.enum)) {
    const keys = place.path.filter((k) => k !== "[]");
    const end = Object.keys(names).find((k) => `.${keys.join(".")}`.endsWith(`.${k}`) && here.length > 0);
    const ofType = keys[keys.length - 3] === "types" || keys[keys.length - 2] === "types";
    const known = end ? names[end] : ofType ? names[`types.${keys[keys.length - 1]}`] : undefined;
    for (const s of here) {
      for (const e of s.enum ?? []) out.set(String(e), { label: String(e), key: false });
      if (s.type === "boolean") for (const e of ["true", "false"]) out.set(e, { label: e, key: false });
      for (const e of s.examples ?? []) out.set(String(e), { label: String(e), key: false, detail: "example" });
    }
    for (const e of known ?? []) out.set(e, { label: e, key: false });
  }
  return [...out.values()];
}
