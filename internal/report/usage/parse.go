package usage

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"

	"github.com/alecthomas/kong"
)

// Parse reads a command line into the structs of a program and returns the context even with an error. With --help
// it calls help and reports true. It has the steps of kong.Kong.Parse except hooks. kong finds hooks by the names
// of methods. The linker would then keep all exported methods of the program, 8 MB.
func Parse(k *kong.Kong, args []string, help func(*kong.Context) error) (ctx *kong.Context, helped bool, err error) {
	if ctx, err = kong.Trace(k, negatives(k.Model, args)); err == nil {
		err = ctx.Error
	}
	if err != nil {
		return ctx, false, err
	}
	if slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag == k.Model.HelpFlag }) {
		return ctx, true, help(ctx)
	}
	if err = ctx.Reset(); err != nil {
		return ctx, false, err
	}
	if _, err = ctx.Apply(); err != nil {
		return ctx, false, err
	}
	return ctx, false, complete(ctx)
}

// negative matches a value that kong mistakes for a short flag; no short flag here is a digit.
var negative = regexp.MustCompile(`^-[.0-9]`)

// negatives joins a flag and the negative value after it: --gpus -8 is --gpus=-8.
func negatives(of *kong.Application, args []string) (out []string) {
	valued := map[string]bool{}
	_ = kong.Visit(of, func(node kong.Visitable, next kong.Next) error {
		if f, is := node.(*kong.Flag); is && !f.IsBool() {
			valued["--"+f.Name] = true
		}
		return next(nil)
	})
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		if n := len(out); n > 0 && valued[out[n-1]] && negative.MatchString(a) {
			out[n-1] += "=" + a
			continue
		}
		out = append(out, a)
	}
	return out
}

// complete checks values against their lists, and the presence of required ones.
func complete(ctx *kong.Context) error {
	node := ctx.Model.Node
	var missing []string
	for _, p := range ctx.Path {
		if p.Command != nil {
			node = p.Command
		}
		chosen := map[string]string{} // the flag of each exclusive group
		for _, f := range p.Flags {
			if err := listed(f.Value, f.Target); err != nil {
				return err
			}
			if f.Required && !f.Set {
				missing = append(missing, f.Summary())
			}
			for _, group := range f.Xor {
				switch {
				case !f.Set:
				case chosen[group] != "":
					return fmt.Errorf("--%s and --%s can't be used together", chosen[group], f.Name)
				default:
					chosen[group] = f.Name
				}
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	for _, v := range node.Positional {
		if err := listed(v, v.Target); err != nil {
			return err
		}
		if v.Required && !v.Set {
			missing = append(missing, v.Summary())
		}
	}
	if len(missing) == 0 && len(node.Children) > 0 {
		missing = []string{"COMMAND"}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(missing, " "))
	}
	return nil
}

// listed checks that each set value is in the list of accepted ones.
func listed(v *kong.Value, target reflect.Value) error {
	if v.Enum == "" || !v.Set && !v.HasDefault {
		return nil
	}
	if target.Kind() == reflect.Slice {
		for i := range target.Len() {
			if err := listed(v, target.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	accepted, found := v.EnumSlice(), fmt.Sprint(target)
	if slices.Contains(accepted, found) {
		return nil
	}
	accepted = slices.DeleteFunc(accepted, func(s string) bool { return s == "" })
	return field.Choice(v.ShortSummary(), found, accepted, "unknown value %q", found)
}
