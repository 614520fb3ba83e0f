package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const printed = "head\n\none 1\ntwo 2  \nthree 3\nfour 4\nfive 5\n"

// TestRewrite checks which blocks are executed, and what replaces each quotation.
func TestRewrite(t *testing.T) {
	const command = "```sh\nrailyard run x.yaml\n```\n"
	text := func(lines string) string { return "\n```text\n" + lines + "\n```" }
	for _, c := range []struct{ name, document, want, err string }{
		{"a list", command + "<!-- output: ^two..four, five -->" + text("stale\nmore"),
			command + "<!-- output: ^two..four, five -->" + text("two 2\nthree 3\nfour 4\nfive 5"), ""},
		{"lines left out", command + "<!-- output: one, five -->" + text("stale"),
			command + "<!-- output: one, five -->" + text("one 1\n...\nfive 5"), ""},
		{"all", command + "<!-- output -->" + text("stale"),
			command + "<!-- output -->" + text("head\none 1\ntwo 2\nthree 3\nfour 4\nfive 5"), ""},
		{"slow", "<!-- slow -->\n" + command + "<!-- output -->" + text("kept"),
			"<!-- slow -->\n" + command + "<!-- output -->" + text("kept"), ""},
		{"elsewhere", "<!-- elsewhere: needs root -->\n```sh\nrailyard lab up\n```\n",
			"<!-- elsewhere: needs root -->\n```sh\nrailyard lab up\n```\n", ""},
		{"another fence", "```yaml\nname: x\n```", "```yaml\nname: x\n```", ""},
		{"an exit code", "<!-- exit 3 -->\n```sh\nfails\n```", "<!-- exit 3 -->\n```sh\nfails\n```", ""},
		{"another exit code", "```sh\nfails\n```", "", "line 1: exit code 3, expected 0"},
		{"a picture", command + "<!-- picture: a.svg -->\n", command + "<!-- picture: a.svg -->\n", ""},
		{"another picture", command + "<!-- picture: b.svg -->\n", "", "line 4: another picture"},
		{"no such line", command + "<!-- output: six -->" + text(""), "", `no line matches "six"`},
		{"no order", command + "<!-- output: five, one -->" + text(""), "", `no line matches "one"`},
		{"no fence", command + "<!-- output -->\nprose", "", "expected ```text"},
		{"no end", "a\n```sh\nrailyard", "", "line 2: the block has no end"},
		{"another comment", "<!-- soon -->\n" + command, "", `found "soon"`},
	} {
		got, err := rewrite(c.document, false, machine{execute: func(text string, exit int) (string, error) {
			code := 0
			switch text {
			case "railyard run x.yaml\n":
			case "fails\n":
				code = 3
			default:
				return "", errors.New("another command: " + text)
			}
			if code != exit {
				return "", fmt.Errorf("exit code %d, expected %d", code, exit)
			}
			return printed, nil
		}, picture: func(name string) error {
			if name != "a.svg" {
				return errors.New("another picture: " + name)
			}
			return nil
		}})
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, expected %q", c.name, err, c.err)
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%s: %q %v, expected %q", c.name, got, err, c.want)
		}
	}
}
