package reference

import (
	"fmt"
	"strings"

	"railyard/internal/manual"
	"railyard/internal/sheet"
)

// Models returns the page of hardware models: each figure with its source.
func Models(shelves []sheet.Shelf) manual.Page {
	var b strings.Builder
	models, sourced, figures := 0, 0, 0
	var body strings.Builder
	for _, s := range shelves {
		with, of := sheet.Count(s.Models)
		models, sourced, figures = models+len(s.Models), sourced+with, figures+of
		fmt.Fprintf(&body, "\n## %s\n", sentence(s.Kind))
		for i := range s.Models {
			m := &s.Models[i]
			fmt.Fprintf(&body, "\n### %s\n\n%s\n\n| figure | value | source |\n|---|---|---|\n", m.Key, m.Name)
			for _, f := range m.Figures {
				fmt.Fprintf(&body, "| %s | %s | %s |\n", sheet.Named(f.Key), cell(strings.Join(strings.Fields(f.Value), " ")),
					cell(f.Source.String()))
			}
		}
	}
	fmt.Fprintf(&b, `# Hardware models

%d models. %d of %d figures have a source; the others are marked as unsourced. Scenarios name these models, and
MODEL in the command railyard models MODEL is one of them.
`, models, sourced, figures)
	return manual.Page{Path: "reference/models", Text: b.String() + body.String()}
}
