package sheet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Sheet is the data sheet of one product.
type Sheet struct {
	Key     string   `json:"key"`
	Name    string   `json:"name"`
	Figures []Figure `json:"figures"` // figures as in the file
	Sources []Source `json:"-"`
}

// Figure is one value, as its file writes it.
type Figure struct {
	Key    string  `json:"key"`
	Value  string  `json:"value"`
	Source *Source `json:"source,omitempty"` // document in which it was read; nil: unsourced
}

// Source is a document, and the figures that were read there.
type Source struct {
	Of   []string `json:"of"`             // keys
	In   string   `json:"in"`             // names of public documents
	Says string   `json:"says,omitempty"` // meaning of the figure in its source, where it needs one
}

func (s *Source) String() string {
	switch {
	case s == nil:
		return "unsourced"
	case s.Says == "":
		return s.In
	}
	return s.In + ": " + s.Says
}

// Read reads a list of products: objects with key, name, sources, and figures under any other name.
func Read(data []byte) ([]Sheet, error) {
	var rows []json.RawMessage
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, err
	}
	var sheets []Sheet
	for i, row := range rows {
		s, err := read(row)
		if err == nil && slices.ContainsFunc(sheets, func(o Sheet) bool { return o.Key == s.Key }) {
			err = fmt.Errorf("the key is repeated")
		}
		if err != nil {
			return nil, fmt.Errorf("%d (%s): %w", i, s.Key, err)
		}
		sheets = append(sheets, s)
	}
	return sheets, nil
}

func read(row []byte) (s Sheet, err error) {
	d := json.NewDecoder(bytes.NewReader(row))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return s, fmt.Errorf("is not a product")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return s, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return s, err
		}
		switch key := t.(string); key { // of an object
		case "key":
			err = json.Unmarshal(value, &s.Key)
		case "name":
			err = json.Unmarshal(value, &s.Name)
		case "sources":
			err = json.Unmarshal(value, &s.Sources)
		default:
			s.Figures = append(s.Figures, Figure{Key: key, Value: strings.Trim(string(value), `"`)})
		}
		if err != nil {
			return s, err
		}
	}
	return s, s.match()
}

// match gives figures their sources.
func (s *Sheet) match() error {
	if s.Key == "" || s.Name == "" || len(s.Figures) == 0 {
		return fmt.Errorf("a product has a key, a name and figures")
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		if src.In == "" || len(src.Of) == 0 {
			return fmt.Errorf("sources[%d] needs of and in", i)
		}
		for _, key := range src.Of {
			f := slices.IndexFunc(s.Figures, func(f Figure) bool { return f.Key == key })
			switch {
			case f < 0:
				return fmt.Errorf("sources[%d]: unknown figure %q", i, key)
			case s.Figures[f].Source != nil:
				return fmt.Errorf("sources[%d]: %s has a source already: put both in one", i, key)
			}
			s.Figures[f].Source = src
		}
	}
	return nil
}

// Sourced returns how many figures have a source.
func (s *Sheet) Sourced() (n int) {
	for _, f := range s.Figures {
		if f.Source != nil {
			n++
		}
	}
	return n
}

// Unsourced lists the figures that have none, in words.
func (s *Sheet) Unsourced() (named []string) {
	for _, f := range s.Figures {
		if f.Source == nil {
			named = append(named, Named(f.Key))
		}
	}
	return named
}

// names are figures whose key is no word.
var names = map[string]string{"sm": "compute capability", "nic_gbps": "NIC rate", "nic_rate": "NIC rate",
	"nics": "number of NICs", "nvlinks": "number of NVLinks", "nvlink_gbytes_s": "NVLink rate",
	"pair_gbytes_s": "rate between two GPUs", "split": "breakout", "rows": "rows of ports", "lanes": "lanes per port",
	"first_lane": "number of the first lane", "buffer_bytes": "buffer size", "cell_bytes": "cell size", "now": "modes", "jacks": "port groups",
	"gpu": "GPU", "os": "operating system"}

// Named returns a figure's key in words.
func Named(key string) string {
	if name := names[key]; name != "" {
		return name
	}
	return strings.ReplaceAll(key, "_", " ")
}

// Summary names the documents of the figures whose keys end so, without words of all, in one line, and what of them is
// unsourced.
func (s *Sheet) Summary(ends ...string) string {
	of := func(key string) bool {
		return len(ends) == 0 || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(key, end) })
	}
	var parts []string
	for i := range s.Sources {
		if slices.ContainsFunc(s.Sources[i].Of, of) {
			parts = append(parts, s.Sources[i].In)
		}
	}
	var missing []string
	for _, f := range s.Figures {
		if f.Source == nil && of(f.Key) {
			missing = append(missing, Named(f.Key))
		}
	}
	if len(missing) > 0 {
		parts = append(parts, "unsourced: "+strings.Join(missing, ", "))
	}
	return strings.Join(parts, "; ")
}

// Count returns the number of figures in a list, and how many of them have a source.
func Count(sheets []Sheet) (sourced, figures int) {
	for i := range sheets {
		sourced += sheets[i].Sourced()
		figures += len(sheets[i].Figures)
	}
	return sourced, figures
}

// Shelf is the data sheets of one kind of hardware.
type Shelf struct {
	Kind   string  `json:"kind"`
	Models []Sheet `json:"models"`
}
