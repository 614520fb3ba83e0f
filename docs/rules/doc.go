// Package rules embeds a page per lint rule: what the rule checks, what a violation causes, an example that violates
// it and one that does not. TestRulePages runs the examples and writes the pages.
package rules
