package main

import (
	"errors"
	"strings"
	"testing"
)

const printed = "head\n\none 1\ntwo 2  \nthree 3\nfour 4\nfive 5\n"

// TestRewrite checks what a quotation becomes, whatever stood there before.
func TestRewrite(t *testing.T) {
	call := func(args string) (string, error) {
		if args != "run x.yaml" {
			return "", errors.New("another command: " + args)
		}
		return printed, nil
	}
	for _, c := range []struct{ text, want, err string }{
		{"a\n<!-- figures: railyard run x.yaml | ^two..four, five -->\n    stale\n    more\n\nb",
			"a\n<!-- figures: railyard run x.yaml | ^two..four, five -->\n" +
				"    two 2\n    three 3\n    four 4\n    five 5\n\nb", ""},
		{"<!-- figures: railyard run x.yaml | one, five -->",
			"<!-- figures: railyard run x.yaml | one, five -->\n    one 1\n    ...\n    five 5", ""},
		{"<!-- figures: railyard run x.yaml -->\nb",
			"<!-- figures: railyard run x.yaml -->\n" +
				"    head\n    one 1\n    two 2\n    three 3\n    four 4\n    five 5\nb", ""},
		{"<!-- figures, slow: railyard other -->\n    kept", "<!-- figures, slow: railyard other -->\n    kept", ""},
		{"<!-- figures: railyard run x.yaml | six -->", "", `no line matches "six"`},
		{"<!-- figures: railyard run x.yaml | five, one -->", "", `no line matches "one"`},
		{"<!-- figures: railyard other -->", "", "another command"},
		{"\n<!-- figures: run x.yaml -->", "", "line 2: expected <!-- figures: railyard"},
	} {
		got, err := rewrite(c.text, map[string]bool{"": true}, call)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v, expected %q", c.text, err, c.err)
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%q: %q %v, expected %q", c.text, got, err, c.want)
		}
	}
}
