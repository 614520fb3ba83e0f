package main

import (
	"fmt"
	"text/tabwriter"

	"railyard/docs/rules"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/swconf"
)

// ruleEntry is a rule as JSON.
type ruleEntry struct {
	Rule     string          `json:"rule"`
	Severity swconf.Severity `json:"severity"`
	Checks   string          `json:"checks"`
	Why      string          `json:"why"`
	Page     string          `json:"page,omitempty"` // Markdown, of the requested rule
}

// printRules prints all rules of lint, or the pages of the named ones.
func printRules(e *env, names []string, asJSON bool) error {
	if len(names) > 0 {
		return printRule(e, names, asJSON)
	}
	var all []ruleEntry
	for _, r := range swconf.Rules() {
		all = append(all, ruleEntry{Rule: r.ID, Severity: r.Severity, Checks: r.Short, Why: r.Why})
	}
	if asJSON {
		return printJSON(e.stdout, all)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Rule, r.Severity, r.Checks)
	}
	return w.Flush()
}

// printRule prints a rule's page.
func printRule(e *env, names []string, asJSON bool) error {
	if len(names) > 1 {
		return field.New("--rules", "explains one rule, found %d", len(names))
	}
	r := swconf.RuleByID(names[0])
	if r == nil {
		var known []string
		for _, r := range swconf.Rules() {
			known = append(known, r.ID)
		}
		return input.Fault(field.Choice("RULE", names[0], known, "unknown rule %q", names[0]).ListedBy("railyard config lint --rules"))
	}
	page, _ := rules.Page(r.ID)
	if asJSON {
		return printJSON(e.stdout, ruleEntry{r.ID, r.Severity, r.Short, r.Why, page})
	}
	_, err := fmt.Fprint(e.stdout, page)
	return err
}
