package main

import (
	"fmt"
	"text/tabwriter"

	"railyard/docs/rules"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/swconf"
)

type configRulesCmd struct {
	Rule string `arg:"" optional:"" help:"Rule to explain (list all)" placeholder:"RULE"`
	JSON bool   `help:"Print as JSON"`
}

func (c *configRulesCmd) Help() string {
	return `Examples:
  railyard config rules
  railyard config rules threshold-order
  railyard config rules --json | jq -r '.[] | select(.severity == "error").rule'`
}

// ruleEntry is a rule as JSON.
type ruleEntry struct {
	Rule     string          `json:"rule"`
	Severity swconf.Severity `json:"severity"`
	Checks   string          `json:"checks"`
	Why      string          `json:"why"`
	Page     string          `json:"page,omitempty"` // Markdown, of the one that was asked for
}

// Run is the config rules command.
func (c *configRulesCmd) Run(e *env) error {
	if c.Rule != "" {
		return c.one(e)
	}
	var all []ruleEntry
	for _, r := range swconf.Rules() {
		all = append(all, ruleEntry{Rule: r.ID, Severity: r.Severity, Checks: r.Short, Why: r.Why})
	}
	if c.JSON {
		return printJSON(e.stdout, all)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Rule, r.Severity, r.Checks)
	}
	return w.Flush()
}

// one prints a rule's page.
func (c *configRulesCmd) one(e *env) error {
	r := swconf.RuleByID(c.Rule)
	if r == nil {
		var names []string
		for _, r := range swconf.Rules() {
			names = append(names, r.ID)
		}
		return input.Fault(field.Choice("RULE", c.Rule, names, "unknown rule %q", c.Rule))
	}
	page, _ := rules.Page(r.ID)
	if c.JSON {
		return printJSON(e.stdout, ruleEntry{r.ID, r.Severity, r.Short, r.Why, page})
	}
	_, err := fmt.Fprint(e.stdout, page)
	return err
}
