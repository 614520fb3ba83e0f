import { autocompletion, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { defaultHighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import type { Checked } from "./contract";

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  description?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** find follows the keys above a line into the schema. */
function find(root: Schema, path: string[]): Schema | undefined {
  let s: Schema | undefined = root;
  for (const key of path) {
    s = deref(root, s);
    s =
      s?.properties?.[key] ??
      (typeof s?.additionalProperties === "object" ? s.additionalProperties : undefined);
  }
  return deref(root, s);
}

function deref(root: Schema, s?: Schema): Schema | undefined {
  if (s?.$ref) s = root.$defs?.[s.$ref.replace("#/$defs/", "")];
  for (const x of s?.anyOf ?? s?.oneOf ?? []) if (x.properties || x.$ref) return deref(root, x);
  return s;
}

/** above lists the keys that a line is nested in, by indentation. */
function above(text: string[], line: number): string[] {
  const path: string[] = [];
  let depth = /^ */.exec(text[line])![0].length;
  for (let i = line - 1; i >= 0 && depth > 0; i--) {
    const m = /^( *)([\w-]+):\s*$/.exec(text[i]);
    if (m && m[1].length < depth) {
      path.unshift(m[2]);
      depth = m[1].length;
    }
  }
  return path;
}

function complete(schema: Schema) {
  return (c: CompletionContext) => {
    const line = c.state.doc.lineAt(c.pos);
    const text = c.state.doc.toString().split("\n");
    const path = above(text, line.number - 1);
    const before = line.text.slice(0, c.pos - line.from);
    const value = /^\s*([\w-]+):\s*([\w.-]*)$/.exec(before);
    if (value) {
      const s = find(schema, [...path, value[1]]);
      const options = (s?.enum ?? []).map((e) => ({ label: String(e), type: "enum" }));
      return options.length ? { from: c.pos - value[2].length, options } : null;
    }
    const word = c.matchBefore(/[\w-]*/);
    if (!word || (word.from === word.to && !c.explicit)) return null;
    const props = find(schema, path)?.properties ?? {};
    return {
      from: word.from,
      options: Object.entries(props).map(([label, s]) => ({
        label,
        type: "property",
        detail: s.description?.slice(0, 60),
        apply: label + ": ",
      })),
    };
  };
}

/** edit puts an editor for scenarios into a box; check says what is wrong and where. */
export function edit(
  box: HTMLElement,
  text: string,
  schema: Schema,
  check: (text: string) => Promise<Checked>,
  changed: (text: string, error: string) => void,
): () => void {
  const lint = linter(
    async (view): Promise<Diagnostic[]> => {
      const r = await check(view.state.doc.toString());
      changed(view.state.doc.toString(), r.ok ? "" : (r.error ?? ""));
      if (r.ok) return [];
      const faults = r.faults?.length ? r.faults : [{ line: 0, column: 0, path: "", message: r.error ?? "" }];
      return faults.map((f) => {
        const n = Math.min(Math.max(1, f.line), view.state.doc.lines);
        const line = view.state.doc.line(n);
        const from = Math.min(line.to, line.from + Math.max(0, f.column - 1));
        const message = (f.path ? f.path + ": " : "") + f.message;
        return { from, to: Math.max(from, line.to), severity: "error", message };
      });
    },
    { delay: 300 },
  );
  const view = new EditorView({
    parent: box,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        yaml(),
        syntaxHighlighting(defaultHighlightStyle),
        autocompletion({ override: [complete(schema)] }),
        lintGutter(),
        lint,
        EditorView.contentAttributes.of({ "aria-label": "scenario" }),
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0; // keyboards scroll it
  return () => view.destroy();
}
