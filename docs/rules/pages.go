// Package rules holds a page for each rule of railyard config lint: what it checks, what it hurts, an example
// that breaks it and one that does not. The pages are written by the test that tries their examples
// (TestRulePages).
package rules

import "embed"

//go:embed *.md
var pages embed.FS

// Page returns a rule's page as Markdown.
func Page(rule string) (string, bool) {
	b, err := pages.ReadFile(rule + ".md")
	return string(b), err == nil && rule != index
}

const index = "README"
