package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/report/usage"

	"github.com/alecthomas/kong"
	"mvdan.cc/sh/v3/syntax"
)

// TestExamplesOfHelp parses the examples of every command's help as a shell does, including continuations and
// notes. It checks each call of railyard: flags, their values and bounds, and shipped files.
func TestExamplesOfHelp(t *testing.T) {
	p, release := newParser()
	defer release()
	calls := 0
	_ = kong.Visit(p.kong.Model, func(v kong.Visitable, next kong.Next) error {
		if n, ok := v.(*kong.Node); ok && n.Type == kong.CommandNode {
			_, out, _ := call(t, append(strings.Fields(n.Path()), "--help")...)
			_, examples, _ := strings.Cut(out, "\nExample")
			examples = strings.TrimLeft(examples, "s")
			if end := regexp.MustCompile(`(?m)^[A-Z].*:$`).FindStringIndex(examples); end != nil {
				examples = examples[:end[0]]
			}
			calls += readExamples(t, n.Path(), examples)
		}
		return next(nil)
	})
	if calls < 120 {
		t.Errorf("%d examples", calls)
	}
}

// readExamples parses the calls of railyard in a script and returns their number.
func readExamples(t *testing.T, command, script string) (calls int) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), command)
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, script)
		return 0
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		c, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, w := range c.Args {
			words = append(words, literal(w))
		}
		for len(words) > 0 && words[0] != "railyard" {
			words = words[1:] // srun and its flags
		}
		if len(words) > 0 {
			calls++
			parses(t, words[1:])
		}
		return true
	})
	return calls
}

// literal returns a word without its quotes.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch x := part.(type) {
		case *syntax.Lit:
			b.WriteString(x.Value)
		case *syntax.SglQuoted:
			b.WriteString(x.Value)
		case *syntax.DblQuoted:
			for _, inner := range x.Parts {
				b.WriteString(inner.(*syntax.Lit).Value)
			}
		}
	}
	return b.String()
}

// parses fails the test if railyard rejects the arguments, or if a shipped file that they name is missing.
func parses(t *testing.T, args []string) {
	p, release := newParser()
	defer release()
	ctx, _, err := usage.Parse(p.kong, args, printHelp)
	if err == nil {
		err = usage.CheckFlags(ctx)
	}
	if err != nil {
		t.Errorf("railyard %s: %v", strings.Join(args, " "), err)
	}
	for _, a := range args {
		if strings.HasPrefix(a, "scenarios/") {
			if _, err := os.Stat(filepath.Join("../..", a)); err != nil {
				t.Errorf("railyard %s: %v", strings.Join(args, " "), err)
			}
		}
	}
}
