package reference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/internal/manual"
)

// Outputs are JSON Schemas of what commands print with --json.
type Outputs struct {
	Commands map[string]*Output `json:"properties"` // by the path of the command: "plan memory"
	Defs     map[string]*Output `json:"$defs"`
}

// Output is the part of JSON Schema that describes results of commands.
type Output struct {
	Version     string             `json:"$schema,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        any                `json:"type,omitempty"` // a word or several
	Format      string             `json:"format,omitempty"`
	AnyOf       []*Output          `json:"anyOf,omitempty"`
	Items       *Output            `json:"items,omitempty"`
	Least       *int               `json:"minItems,omitempty"`
	Most        *int               `json:"maxItems,omitempty"`
	Properties  map[string]*Output `json:"properties,omitempty"`
	Patterns    map[string]*Output `json:"patternProperties,omitempty"`
	Further     *Output            `json:"additionalProperties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Defs        map[string]*Output `json:"$defs,omitempty"`

	never bool // the schema false, which accepts nothing
}

// UnmarshalJSON reads a schema, also true and false.
func (o *Output) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "true":
		*o = Output{}
		return nil
	case "false":
		*o = Output{never: true}
		return nil
	}
	type plain Output
	return json.Unmarshal(text, (*plain)(o))
}

// MarshalJSON writes the schema that accepts nothing as false.
func (o *Output) MarshalJSON() ([]byte, error) {
	if o.never {
		return []byte("false"), nil
	}
	type plain Output
	return json.Marshal((*plain)(o))
}

// ReadOutputs reads the schemas of all commands.
func ReadOutputs(text []byte) (*Outputs, error) {
	o := new(Outputs)
	return o, json.Unmarshal(text, o)
}

// Of returns the schema of a command's output with the definitions that it refers to, or nil for an unknown command.
func (o *Outputs) Of(command string) *Output {
	of := o.Commands[command]
	if of == nil {
		return nil
	}
	root := *of
	root.Version, root.Defs = "https://json-schema.org/draft/2020-12/schema", map[string]*Output{}
	root.Title = "Output of railyard " + command + " --json"
	o.collect(of, root.Defs)
	return &root
}

// collect adds the definitions that a schema refers to.
func (o *Outputs) collect(s *Output, defs map[string]*Output) {
	if d := o.target(s); d != nil {
		if name := strings.TrimPrefix(s.Ref, refTo); defs[name] == nil {
			defs[name] = d
			o.collect(d, defs)
		}
	}
	for _, part := range s.parts() {
		o.collect(part, defs)
	}
}

const refTo = "#/$defs/"

// target returns the definition that a schema refers to, or nil.
func (o *Outputs) target(s *Output) *Output { return o.Defs[strings.TrimPrefix(s.Ref, refTo)] }

// parts returns the schemas in a schema, in order of their names.
func (o *Output) parts() []*Output {
	all := slices.Clone(o.AnyOf)
	for _, m := range []map[string]*Output{o.Properties, o.Patterns} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			all = append(all, m[name])
		}
	}
	for _, one := range []*Output{o.Items, o.Further} {
		if one != nil && !one.never {
			all = append(all, one)
		}
	}
	return all
}

// Field is a field of an output.
type Field struct {
	Path    string // "flows[].bytes"; an alternative of the output begins with its flags: "(--ports)[].port"
	Type    string
	Meaning string
}

// Fields returns the fields of a command's output, each below the one that contains it.
func (o *Outputs) Fields(command string) (list []Field) {
	if of := o.Commands[command]; of != nil {
		o.fields(of, Field{}, nil, &list)
	}
	return list
}

// fields adds a field that has a schema, and the fields in it; within are the definitions around it.
func (o *Outputs) fields(s *Output, f Field, within []string, all *[]Field) {
	optional := f.Type
	if f.Meaning == "" {
		f.Meaning = s.Description
	}
	if d := o.target(s); d != nil {
		if slices.Contains(within, s.Ref) {
			return
		}
		within = append(slices.Clip(within), s.Ref)
		if s = d; f.Meaning == "" {
			f.Meaning = s.Description
		}
	}
	if word := kinds(s.Type); f.Path != "" && word != "" {
		f.Type = word + optional
		*all = append(*all, f)
	}
	inside := func(s *Output, path, optional string) {
		o.fields(s, Field{Path: path, Type: optional}, within, all)
	}
	for _, one := range s.AnyOf {
		if one.Title != "" {
			inside(one, f.Path+"("+one.Title+")", "")
		} else {
			inside(one, f.Path, "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		optional := ", optional"
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		inside(s.Properties[name], strings.TrimPrefix(f.Path+"."+name, "."), optional)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Patterns)) {
		inside(s.Patterns[name], f.Path+".N", "")
	}
	if s.Items != nil {
		inside(s.Items, f.Path+"[]", "")
	}
	if s.Further != nil && !s.Further.never {
		inside(s.Further, strings.TrimPrefix(f.Path+".NAME", "."), "")
	}
}

// outputsHead begins the index of outputs; ' replaces a backquote.
const outputsHead = `# Outputs

Results that commands print with '--json'. 'railyard schema COMMAND' prints the JSON Schema.
Later versions add fields; they do not remove fields or change their types. '[]' is an entry of a list, NAME a key
that is data. Fields that end in '_ps' are picoseconds.

| command | fields |
|---|---|
`

// Pages returns the pages of outputs: an index, and a page for each of the commands that has one.
func (o *Outputs) Pages(commands []string) []manual.Page {
	var index strings.Builder
	index.WriteString(strings.ReplaceAll(outputsHead, "'", "`"))
	pages := []manual.Page{{}}
	for _, name := range commands {
		fields := o.Fields(name)
		if len(fields) == 0 {
			continue
		}
		file := strings.ReplaceAll(name, " ", "-")
		fmt.Fprintf(&index, "| [railyard %s](outputs/%s.md) | %d |\n", name, file, len(fields))
		var b strings.Builder
		fmt.Fprintf(&b, "# Output of railyard %s\n\nThe result of [railyard %s](../commands/%s.md) with `--json`.\n\n"+
			"| field | value | meaning |\n|---|---|---|\n", name, name, file)
		for _, f := range fields {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Path, f.Type, cell(f.Meaning))
		}
		pages = append(pages, manual.Page{Path: "reference/outputs/" + file, Text: b.String()})
	}
	pages[0] = manual.Page{Path: "reference/outputs", Text: index.String()}
	return pages
}
