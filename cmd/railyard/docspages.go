package main

import (
	"fmt"
	"strings"

	"railyard/docs"
	"railyard/docs/rules"
	"railyard/internal/manual"
	"railyard/internal/reference"
	"railyard/internal/report/usage"
	"railyard/internal/result"
	"railyard/internal/scenario"
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
		"reference/columns", "reference/messages", "reference/models", "rules/README", "clusters", "references"}},
	{Title: "Accuracy and speed", Pages: []string{"reference/accuracy", "validation", "reference/flows", "diagnose",
		"traces", "seeds", "stories", "speed", "comparison/index"}},
	{Title: "About", Pages: []string{"faq", "glossary", "CHANGELOG", "SECURITY"}},
	{Title: "Commands", Pages: []string{"reference/commands/"}},
	{Title: "Scenario keys", Pages: []string{"reference/keys/"}},
	{Title: "Lint rules", Pages: []string{"rules/"}},
}

// documentation returns the site of this version.
func documentation() (*manual.Site, error) {
	pages, err := reference.Keys(scenario.Schema())
	if err != nil {
		return nil, err
	}
	report, err := docs.Files.ReadFile("validation.md")
	if err != nil {
		return nil, err
	}
	var shelved []reference.Shelf
	for _, s := range shelves() {
		shelved = append(shelved, reference.Shelf{Kind: s.Kind, Models: s.Models})
	}
	pages = append(pages, reference.Columns(result.Declared()), reference.Messages(helpTopics["exit"]),
		reference.Models(shelved), reference.Accuracy(string(report)), reference.Flows())
	index, _ := rules.Index()
	pages = append(pages, manual.Page{Path: "rules/README", Text: index})
	for _, r := range swconf.Rules() {
		text, _ := rules.Page(r.ID)
		pages = append(pages, manual.Page{Path: "rules/" + r.ID, Text: text})
	}
	return manual.New(docs.Files, contents, append(pages, commandPages()...))
}

// commandPages returns a page for every command, and one that lists them.
func commandPages() (pages []manual.Page) {
	p, release := newParser()
	defer release()
	var index strings.Builder
	index.WriteString("# Commands\n\nEvery command has `--help` with examples, and `--json` where it prints figures.\n\n" +
		"| command | summary |\n|---|---|\n")
	for _, n := range p.kong.Model.Leaves(true) {
		name := strings.ReplaceAll(n.Path(), " ", "-")
		fmt.Fprintf(&index, "| [railyard %s](commands/%s.md) | %s |\n", n.Path(), name, usage.Escaped(n.Help))
		pages = append(pages, manual.Page{Path: "reference/commands/" + name, Text: usage.Markdown(n)})
	}
	return append(pages, manual.Page{Path: "reference/commands", Text: index.String()})
}
