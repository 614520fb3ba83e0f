package rules

import "embed"

//go:embed *.md
var pages embed.FS

// Page returns a rule's page as Markdown.
func Page(rule string) (string, bool) {
	b, err := pages.ReadFile(rule + ".md")
	return string(b), err == nil && rule != index
}

// Index returns the page that lists all rules.
func Index() (string, bool) {
	b, err := pages.ReadFile(index + ".md")
	return string(b), err == nil
}

const index = "README"
