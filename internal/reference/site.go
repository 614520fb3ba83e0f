package reference

import (
	"railyard/docs"
	"railyard/docs/rules"
	"railyard/internal/manual"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sheet"
	"railyard/internal/swconf"
)

// contents is the table of contents of the documentation.
var contents = []manual.Section{
	{Title: "Start", Pages: []string{"index"}},
	{Title: "Tutorials", Pages: []string{"tutorials/first-run", "tutorials/cluster", "tutorials/allreduce",
		"tutorials/configurations", "tutorials/incast", "tutorials/sweep"}},
	{Title: "Guides", Pages: []string{"guides/installation", "guides/scenarios", "guides/page", "guides/planning",
		"guides/jobs", "guides/failures", "guides/configurations", "onto", "guides/diagnosis", "guides/real-packets",
		"guides/exchange", "guides/circuits", "sweep", "scripts", "extend", "guides/"}},
	{Title: "Concepts", Pages: []string{"concepts/packet", "concepts/causes", "concepts/fidelities",
		"concepts/not-modelled", "concepts/"}},
	{Title: "Reference", Pages: []string{"reference/commands", "reference/scenario-keys", "run-directory",
		"reference/columns", "reference/outputs", "reference/messages", "reference/models", "rules/README", "clusters", "references"}},
	{Title: "Accuracy and speed", Pages: []string{"reference/accuracy", "validation", "reference/flows", "diagnose",
		"traces", "seeds", "stories", "speed", "comparison/index"}},
	{Title: "About", Pages: []string{"faq", "glossary", "CHANGELOG", "SECURITY"}},
	{Title: "Commands", Pages: []string{"reference/commands/"}},
	{Title: "Outputs", Pages: []string{"reference/outputs/"}},
	{Title: "Scenario keys", Pages: []string{"reference/keys/"}},
	{Title: "Lint rules", Pages: []string{"rules/"}},
}

// Site returns the documentation: the written pages, pages made from registries, and pages of commands. exit
// describes exit codes.
func Site(commands []manual.Page, shelves []sheet.Shelf, exit string) (*manual.Site, error) {
	pages, err := Keys(scenario.Schema())
	if err != nil {
		return nil, err
	}
	report, err := docs.Files.ReadFile("validation.md")
	if err != nil {
		return nil, err
	}
	pages = append(pages, Columns(result.Declared()), Messages(exit), Models(shelves), Accuracy(string(report)),
		Flows())
	index, _ := rules.Index()
	pages = append(pages, manual.Page{Path: "rules/README", Text: index})
	for _, r := range swconf.Rules() {
		text, _ := rules.Page(r.ID)
		pages = append(pages, manual.Page{Path: "rules/" + r.ID, Text: text})
	}
	return manual.New(docs.Files, contents, append(pages, commands...))
}
