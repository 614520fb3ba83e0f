package scenario

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/unit"
)

// Schema returns the JSON Schema of scenario files, generated from File.
func Schema() []byte {
	root := object(reflect.TypeFor[File](), "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Railyard scenario"
	root["required"] = []string{"fabric"}
	root["oneOf"] = []schema{{"required": []string{"workload"}}, {"required": []string{"jobs"}}}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err) // maps of strings always encode
	}
	return b.Bytes()
}

type schema = map[string]any

func object(t reflect.Type, row string) schema {
	props := schema{}
	for _, f := range keys(t) {
		s := typeSchema(f.Type, field.Join(row, name(f)))
		if e := enumOf(f); e != "" {
			if s["enum"] = strings.Split(e, ","); f.Type.Kind() == reflect.Bool {
				s["type"] = "string"
			}
		}
		s["description"] = f.Tag.Get("doc")
		props[name(f)] = s
	}
	return schema{"type": "object", "additionalProperties": false, "properties": props}
}

// quantity is a number and a unit.
func quantity(units, example string) schema {
	return schema{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? ?(` + units + `)$`,
		"examples": []string{example}}
}

func typeSchema(t reflect.Type, row string) schema {
	s := kindSchema(t, row)
	if b := bounded[row]; b != nil {
		b.limit(s)
	}
	return s
}

// limit writes a bound into a schema: as minimum and maximum of a number, and as x-accepted if the unit is part of the
// value, which JSON Schema cannot compare.
func (b *bound) limit(s schema) {
	if s["type"] == "string" {
		s["x-accepted"] = b.accepted()
		return
	}
	if b.of != "" {
		var of []json.RawMessage
		for _, v := range strings.Split(b.of, ", ") {
			of = append(of, json.RawMessage(v))
		}
		s["enum"] = of
		return
	}
	of := s
	if b.zero {
		of = schema{}
		s["anyOf"] = []schema{{"const": 0}, of}
	}
	of["minimum"], of["maximum"] = json.RawMessage(b.min), json.RawMessage(b.max)
}

func kindSchema(t reflect.Type, row string) schema {
	if made := madeTypes[t]; made != nil {
		return object(made, row)
	}
	switch t {
	case reflect.TypeFor[Transport]():
		return schema{"oneOf": []schema{object(t, row), {"type": "string", "enum": Presets()}}}
	case reflect.TypeFor[unit.Time]():
		return quantity("ps|ns|us|µs|ms|s", "600ns")
	case reflect.TypeFor[unit.Rate]():
		return quantity(unit.RateWords(), "400Gbps")
	case reflect.TypeFor[unit.Bytes]():
		return quantity("B|KB|MB|GB|TB|KiB|MiB|GiB|TiB", "4KiB")
	case reflect.TypeFor[Length]():
		return quantity("mm|cm|m|km", "10m")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), row)
	case reflect.Struct:
		return object(t, row)
	case reflect.Slice:
		list := schema{"type": "array", "items": typeSchema(t.Elem(), row+"[]")}
		switch {
		case t == reflect.TypeFor[site.Pairs]():
			return schema{"type": "object", "additionalProperties": schema{"type": []string{"string",
				"integer"}}}
		case named(t.Elem()):
			return schema{"oneOf": []schema{list, {"type": "object", "additionalProperties": list["items"]}}}
		case t.Elem().Kind() == reflect.String:
			return schema{"oneOf": []schema{list, {"type": "string"}}}
		}
		return list
	case reflect.Map, reflect.Array:
		if t.Elem().Kind() == reflect.String { // keyed by names
			return schema{"type": "object", "additionalProperties": typeSchema(t.Elem(), row+".*")}
		}
		return schema{"type": "object", "propertyNames": schema{"pattern": "^[0-9]+$"},
			"additionalProperties": typeSchema(t.Elem(), row+".*")}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.String:
		return schema{"type": "string"}
	}
	s := schema{"type": "integer"}
	if t.Kind() == reflect.Uint64 {
		s["minimum"] = 0
	}
	return s
}
