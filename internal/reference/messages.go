package reference

import (
	"fmt"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/diagnose"
	"railyard/internal/manual"
)

// Messages returns the page of causes that runs and diagnoses name, and of exit codes.
func Messages(exit string) manual.Page {
	var b strings.Builder
	b.WriteString(`# Messages: causes, findings, exit codes

An error has the place (file, line, column, key or flag), the value, the accepted values, and the next command. Findings
of ` + "`railyard config lint`" + ` have [a page each](../rules/README.md).

## Causes of lost time in a run

` + "`run`, `why` and `compare`" + ` divide the critical path among these causes. The column is the name in summary.json
(with _ps) and in causes.parquet.

| cause | column | meaning |
|---|---|---|
`)
	for _, c := range cause.All() {
		about := c.About
		if c.Advice != "" {
			about += ". Remedy: " + c.Advice
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.Name, c.Key, cell(about))
	}
	b.WriteString(`
## Causes in counters of devices

` + "`railyard diagnose`" + ` names these causes, with the evidence and how sure it is.

| cause | meaning | decided by |
|---|---|---|
`)
	for _, c := range diagnose.Causes() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, cell(c.About), cell(strings.Join(c.By, ", ")))
	}
	fmt.Fprintf(&b, "\n## Exit codes\n\n```text\n%s```\n", exit)
	return manual.Page{Path: "reference/messages", Text: b.String()}
}
