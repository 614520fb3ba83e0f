package usage

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Values lists the possible values of a flag or an argument, by its name and its placeholder. Its input is the word
// to complete and the words before it. It lists none if a shell completes file names.
type Values func(name, holder, last string, before []string) []string

// Complete returns the words that the last word of a command line may become, sorted.
func Complete(node *kong.Node, line []string, values Values) []string {
	placed := 0          // arguments of the command so far
	var value *kong.Flag // flag whose value is next
	begun, last := line[:len(line)-1], line[len(line)-1]
	for _, w := range begun {
		switch {
		case value != nil:
			value = nil
		case strings.HasPrefix(w, "-"):
			if f := flagOf(node, w); f != nil && !f.IsBool() && !strings.Contains(w, "=") {
				value = f
			}
		default:
			if child := childOf(node, w); child != nil {
				node = child
			} else {
				placed++
			}
		}
	}
	var words []string
	switch {
	case value != nil:
		words = listedValues(value.Value, values, last, begun)
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				words = append(words, "--"+f.Name)
			}
		}
	case len(node.Children) > 0 && node.Type != kong.CommandNode || len(node.Positional) == 0 && len(node.Children) > 0:
		for _, child := range node.Children {
			if !child.Hidden {
				words = append(words, child.Name)
			}
		}
	case len(node.Positional) > 0:
		words = listedValues(node.Positional[min(placed, len(node.Positional)-1)], values, last, begun)
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" || !strings.HasPrefix(w, last) })
	slices.Sort(words)
	return slices.Compact(words)
}

// childOf returns a command below a node, or nil.
func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagOf returns the flag that a word names, or nil.
func flagOf(node *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if f.Name == name || f.Short != 0 && name == string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// listedValues returns the values of an enumeration, else values.
func listedValues(v *kong.Value, values Values, last string, before []string) []string {
	if v.Enum != "" {
		return strings.Split(v.Enum, ",")
	}
	return values(v.Name, v.Tag.PlaceHolder, last, before)
}
