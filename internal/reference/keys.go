package reference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/internal/manual"
)

// schema is the part of a JSON Schema that the schema of scenarios uses.
type schema struct {
	Type        any                `json:"type"` // a word or several
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Additional  json.RawMessage    `json:"additionalProperties"` // false, or the schema of each value
	Items       *schema            `json:"items"`
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
	Enum        []any              `json:"enum"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	Examples    []any              `json:"examples"`
	Accepted    string             `json:"x-accepted"`
}

// Keys returns the pages of scenario keys: an index, and a page for each block. text is the JSON Schema.
func Keys(text []byte) ([]manual.Page, error) {
	var root schema
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	var index strings.Builder
	var pages []manual.Page
	total := 0
	for _, name := range slices.Sorted(maps.Keys(root.Properties)) {
		var rows []string
		root.Properties[name].walk(name, &rows)
		total += len(rows)
		fmt.Fprintf(&index, "| [%s](keys/%s.md) | %d | %s |\n", name, name, len(rows),
			cell(root.Properties[name].Description))
		pages = append(pages, manual.Page{Path: "reference/keys/" + name, Text: fmt.Sprintf("# Scenario keys: %s\n\n%s.\n\n"+
			"| key | value | meaning |\n|---|---|---|\n%s", name, sentence(root.Properties[name].Description),
			strings.Join(rows, ""))})
	}
	head := fmt.Sprintf(`# Scenario keys

%d keys in %d blocks. NAME is a name of your choice, N a number, and %s an entry of a list. `+
		"`railyard check FILE`"+` prints the effective value of every key, `+"`--set KEY=VALUE`"+` overrides one.

| block | keys | meaning |
|---|---|---|
`, total, len(root.Properties), "`[]`")
	return append([]manual.Page{{Path: "reference/scenario-keys", Text: head + index.String()}}, pages...), nil
}

// walk appends a row for a key, and for all keys below it.
func (s *schema) walk(key string, rows *[]string) {
	if s.Description != "" || len(s.Properties) == 0 {
		*rows = append(*rows, fmt.Sprintf("| `%s` | %s | %s |\n", key, cell(s.value()), cell(s.Description)))
	}
	s.below(key, rows)
}

// below appends rows for the keys below a key.
func (s *schema) below(key string, rows *[]string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		s.Properties[name].walk(key+"."+name, rows)
	}
	if s.Items != nil {
		s.Items.below(key+"[]", rows)
	}
	for _, each := range s.OneOf {
		each.below(key, rows)
	}
	var each schema
	if len(s.Additional) > 0 && json.Unmarshal(s.Additional, &each) == nil {
		each.below(key+".NAME", rows)
	}
}

// value returns the accepted values.
func (s *schema) value() string {
	var words []string
	for _, e := range s.Enum {
		words = append(words, fmt.Sprint(e))
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, ", ")
	case s.Accepted != "":
		return s.Accepted
	}
	for _, one := range append(slices.Clone(s.AnyOf), s) {
		if one.Minimum != nil && one.Maximum != nil {
			return fmt.Sprintf("%s, %s–%s", kinds(s.Type), number(*one.Minimum), number(*one.Maximum))
		}
	}
	if s.Items != nil && len(s.Items.Properties) == 0 && s.Items.value() != "" {
		return "list of: " + s.Items.value()
	}
	for _, one := range s.OneOf {
		if len(one.Properties) == 0 && one.value() != "" && !slices.Contains(words, one.value()) {
			words = append(words, one.value())
		}
	}
	if len(words) > 0 {
		return strings.Join(words, "; ")
	}
	return kinds(s.Type)
}

// kinds returns the words for types of JSON.
func kinds(t any) string {
	switch t := t.(type) {
	case string:
		switch t {
		case "object":
			return "keys"
		case "array":
			return "list"
		case "string":
			return "text"
		case "boolean":
			return "true, false"
		case "integer":
			return "whole number"
		}
		return t
	case []any:
		var words []string
		for _, one := range t {
			words = append(words, kinds(one))
		}
		return strings.Join(words, " or ")
	}
	return ""
}

// number prints a bound without an exponent up to 15 digits.
func number(x float64) string {
	if x == float64(int64(x)) {
		return fmt.Sprint(int64(x))
	}
	return fmt.Sprint(x)
}

// cell returns a text as a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// sentence returns a text with a capital letter.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// A KeyValue is a key that --set can override, and its values where they are words.
type KeyValue struct {
	Key    string
	Values []string
}

// KeyValues lists the keys of scenarios without lists and maps. text is the JSON Schema.
func KeyValues(text []byte) (list []KeyValue) {
	var root schema
	if json.Unmarshal(text, &root) != nil {
		return nil
	}
	root.leaves("", &list)
	return list
}

// leaves appends the keys below a key that hold a value.
func (s *schema) leaves(key string, list *[]KeyValue) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child, full := s.Properties[name], strings.TrimPrefix(key+"."+name, ".")
		for _, part := range append([]*schema{child}, child.OneOf...) {
			part.leaves(full, list)
		}
		if len(child.Properties) > 0 || child.Items != nil || len(child.Additional) > 0 && child.Type == "object" {
			continue
		}
		k := KeyValue{Key: full}
		for _, e := range child.Enum {
			k.Values = append(k.Values, fmt.Sprint(e))
		}
		if child.Type == "boolean" {
			k.Values = []string{"false", "true"}
		}
		*list = append(*list, k)
	}
}
