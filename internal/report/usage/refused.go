package usage

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// rewordings replaces the parser's descriptions of values, which name Go types, by readable ones.
var rewordings = []struct {
	form *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`^(.+?): expected .* value but got "EOL".*$`), "$1: the value is missing"},
	{regexp.MustCompile(`^(.+?): expected (?:a |an )?(?:valid )?(?:\d+ bit )?uint.* but got "(-\d+)".*$`),
		"$1: $2 is below 0"},
	{regexp.MustCompile(`^(.+?): expected (?:a |an )?(?:valid )?(?:\d+ bit )?u?int.* but got "(-?\d+)".*$`),
		"$1: $2 is out of range"},
	{regexp.MustCompile(`^(.+?): expected (?:a |an )?(?:valid )?(?:\d+ bit )?u?int.* but got "(.*?)".*$`), "$1 $2: not a whole number"},
	{regexp.MustCompile(`^(.+?): expected (?:a |an )?float.* but got "(.*?)".*$`), "$1 $2: not a number"},
	{regexp.MustCompile(`^(.+?): expected duration but got "(.*?)".*$`), "$1 $2: not a time; write for example 30s or 5m"},
	{regexp.MustCompile(`^(.+?): bool value must be .*$`), "$1 takes no value"},
	{regexp.MustCompile(`^unexpected argument ([^,]*)`), `unexpected argument "$1"`},
}

// argument is the parser's form of an argument's name.
var argument = regexp.MustCompile(`<[^>]*>`)

// Refused returns why the parser of a program refuses a command line, and what to read next.
func Refused(of *kong.Application, ctx *kong.Context, err error) (what, next string) {
	what, next = (&parser{of}).refused(ctx, err)
	return endless.ReplaceAllStringFunc(what, func(s string) string { return s[:60] + "..." }), next
}

// endless matches words that no command, flag or value is.
var endless = regexp.MustCompile(`[!-~]{200,}`)

// parser is the grammar of a command line.
type parser struct{ model *kong.Application }

// refused returns why the parser refuses a command line, and what to read next.
func (p *parser) refused(ctx *kong.Context, err error) (what, next string) {
	var of *kong.Node
	if ctx != nil {
		of = ctx.Selected()
	}
	text := err.Error()
	word, isWord := strings.CutPrefix(text, "unexpected argument ")
	if isWord && (of == nil || len(of.Children) > 0) {
		return p.unknown(of, word)
	}
	if of == nil {
		return text, "all commands: railyard --help"
	}
	if flag, ok := strings.CutPrefix(text, "unknown flag "); ok {
		flag, _, _ = strings.Cut(flag, ",")
		if there := elsewhere[of.Path()+" "+flag]; there != "" {
			return of.Path() + ": unknown flag " + flag, there
		}
	}
	for _, r := range rewordings {
		if r.form.MatchString(text) {
			text = r.form.ReplaceAllString(text, r.text)
			break
		}
	}
	text = argument.ReplaceAllStringFunc(text, func(s string) string { return strings.ToUpper(strings.Trim(s, "<>")) })
	if len(of.Children) > 0 {
		return of.Path() + ": " + text, "accepted: " + children(of)
	}
	return of.Path() + ": " + text, "more: railyard " + of.Path() + " --help"
}

// elsewhere lists flags that a command lacks, by command and flag, and what to write instead.
var elsewhere = map[string]string{
	"compare --out":       "compare writes no run directory; plots: --png DIR, data: --json",
	"plan failures --out": "plots: --plot FILE, data: --json",
	"export --format":     "the format is set with --as FORMAT",
	"import --as":         "the format is set with --format FORMAT",
	"run --png":           "plots of a run: railyard report RUN --png DIR",
	"run --html":          "the report of a run: railyard report RUN --html FILE",
}

// unknown returns the error of an unknown command of a group, or of the program. It names commands of that name in
// other groups, or similar ones.
func (p *parser) unknown(of *kong.Node, word string) (what, next string) {
	word, similar, _ := strings.Cut(word, ", ")
	var in []string
	_ = kong.Visit(p.model, func(node kong.Visitable, next kong.Next) error {
		if n, ok := node.(*kong.Node); ok && n.Name == word && n.Type == kong.CommandNode {
			in = append(in, "railyard "+n.Path())
		}
		return next(nil)
	})
	what = fmt.Sprintf("unknown command %q", word)
	if len(in) > 0 {
		what += ", did you mean " + strings.Join(in, " or ") + "?"
	} else if similar != "" {
		what += ", " + similar
	}
	if of == nil {
		return what, "all commands: railyard --help"
	}
	return of.Path() + ": " + what, "accepted: " + children(of)
}

// children lists the commands of a group.
func children(of *kong.Node) string {
	var names []string
	for _, c := range of.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}
