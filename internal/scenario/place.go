package scenario

import (
	"strings"

	"railyard/internal/field"

	"github.com/goccy/go-yaml/token"
)

// placed adds to errors about values the positions at which these were given.
func (d *Document) placed(err error) error {
	for _, e := range field.All(err) {
		e.Path = d.byName(e.Path)
		if e.File == "" {
			d.locate(e)
		}
	}
	return err
}

// Refuse returns an error about a scenario's value, for users of its plan with stricter requirements than Resolve.
func (d *Document) Refuse(key, format string, args ...any) error {
	return d.placed(field.New(key, format, args...))
}

// locate finds the position of a value: its key's, or that of the nearest parent key in the file. A key changed by
// --set has no position in the file.
func (d *Document) locate(e *field.Error) {
	e.File = d.b.file
	for k := e.Path; ; {
		p, said := d.b.where[k]
		if s, ok := d.override(k); ok && (k == e.Path || !said) {
			e.File = field.Set(s)
			return
		}
		if said {
			e.Line, e.Col = p.line, p.col
			return
		}
		i := strings.LastIndexAny(k, ".[")
		if i < 0 {
			return
		}
		k = k[:i]
	}
}

type place struct{ line, col int }

func position(t *token.Token) place { return place{t.Position.Line, t.Position.Column} }
