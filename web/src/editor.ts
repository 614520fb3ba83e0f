import { autocompletion, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { options, type Schema, spot } from "./complete";
import type { Checked } from "./contract";

/** colours and theme are the page's tokens, in both themes. */
const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--ink-3)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.keyword, tags.typeName, tags.meta], color: "var(--warn)" },
]);
const theme = EditorView.theme({
  "&": { background: "var(--panel)", color: "var(--ink)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { background: "var(--sunk)", color: "var(--ink-3)", borderRight: "1px solid var(--line)" },
  "& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "var(--l1)" },
  ".cm-tooltip": { background: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line-2)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--l5)", color: "var(--bg)" },
});

function complete(schema: Schema, names: Record<string, string[]>) {
  return (c: CompletionContext) => {
    const place = spot(c.state.sliceDoc(0, c.pos));
    if (place.typed === "" && place.key && !c.explicit) return null;
    const list = options(schema, names, place);
    if (list.length === 0) return null;
    return {
      from: c.pos - place.typed.length,
      options: list.map((o) => ({
        label: o.label,
        type: o.key ? "property" : "enum",
        detail: o.detail,
        apply: o.key ? o.label + ": " : undefined,
      })),
      validFor: /^[\w.-]*$/,
    };
  };
}

/** edit puts an editor for scenarios into a box; check says what is wrong and where. */
export function edit(
  box: HTMLElement,
  text: string,
  schema: Schema,
  names: Record<string, string[]>,
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
        syntaxHighlighting(colours),
        theme,
        autocompletion({ override: [complete(schema, names)] }),
        lintGutter(),
        lint,
        EditorView.contentAttributes.of({ "aria-label": "scenario" }),
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0; // keyboards scroll it
  return () => view.destroy();
}
