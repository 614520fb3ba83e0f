package usage

import (
	"fmt"
	"strings"

	"railyard/internal/manual"

	"github.com/alecthomas/kong"
)

// Pages returns a page for every command, and one that lists them.
func Pages(of *kong.Application) (pages []manual.Page) {
	var index strings.Builder
	index.WriteString("# Commands\n\nEvery command has `--help` with examples, and `--json` where it prints figures.\n\n" +
		"| command | summary |\n|---|---|\n")
	for _, n := range of.Leaves(true) {
		name := strings.ReplaceAll(n.Path(), " ", "-")
		fmt.Fprintf(&index, "| [railyard %s](commands/%s.md) | %s |\n", n.Path(), name, Escaped(n.Help))
		pages = append(pages, manual.Page{Path: "reference/commands/" + name, Text: Markdown(n)})
	}
	return append(pages, manual.Page{Path: "reference/commands", Text: index.String()})
}

// Markdown returns the help of a command as a page in Markdown.
func Markdown(n *kong.Node) string {
	var b strings.Builder
	text, examples := "", ""
	if n.Detail != "" {
		text, examples = parted(n.Detail)
	}
	fmt.Fprintf(&b, "# railyard %s\n\n%s.\n\n```text\n%s\n```\n", n.Path(), Escaped(n.Help), typed(n))
	if text != "" {
		fmt.Fprintf(&b, "\n%s\n", Escaped(text))
	}
	order, rows := flagRows(n)
	for _, key := range order {
		if len(rows[key]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", key)
		for _, r := range rows[key] {
			fmt.Fprintf(&b, "- `%s` – %s\n", r[0], Escaped(r[1]))
		}
	}
	if _, list, ok := strings.Cut(examples, "\n"); ok {
		b.WriteString("\n## Examples\n\n```text\n")
		for line := range strings.SplitSeq(strings.TrimRight(list, "\n"), "\n") {
			b.WriteString(strings.TrimPrefix(line, "  ") + "\n")
		}
		b.WriteString("```\n")
	}
	return b.String()
}

// Escaped returns a text with Markdown's special characters escaped.
func Escaped(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "|", `\|`, "[", `\[`).Replace(text)
}
