package platform

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/sheet"
)

//go:embed *.json
var files embed.FS

// Sheets are all that is known, by file: one for each operating system. A key is the system's name, or that
// and a chip's: eos, eos/trident.
var Sheets, sheetsErr = read()

func read() (all []sheet.Sheet, err error) {
	list, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		data, err := files.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		s, err := sheet.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		all = append(all, s...)
	}
	return all, nil
}

// Platform holds the defaults of an operating system, and of a chip where the model is known.
type Platform struct{ sheets []*sheet.Sheet } // the chip's precede the system's

// Of finds the sheets of a system and a model: "eos", "DCS-7060CX-32S". The model may be "" or unknown: then only
// the system's defaults count.
func Of(os, model string) (p Platform) {
	longest := 0
	for i := range Sheets {
		s := &Sheets[i]
		if s.Key == os {
			p.sheets = append(p.sheets, s)
		}
		if !strings.HasPrefix(s.Key, os+"/") {
			continue
		}
		for _, m := range strings.Fields(value(s, "models")) {
			if model != "" && strings.HasPrefix(model, m) && len(m) > longest {
				longest = len(m)
				p.sheets = append([]*sheet.Sheet{s}, slices.DeleteFunc(p.sheets,
					func(o *sheet.Sheet) bool { return o.Key != os })...)
			}
		}
	}
	return p
}

func value(s *sheet.Sheet, key string) string {
	for _, f := range s.Figures {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// Figure returns a value by its key; the chip's precedes the system's.
func (p Platform) Figure(key string) (f sheet.Figure, ok bool) {
	for _, s := range p.sheets {
		for _, f := range s.Figures {
			if f.Key == key {
				return f, true
			}
		}
	}
	return f, false
}

// Word returns a value as written, "" where it is unknown.
func (p Platform) Word(key string) string {
	f, _ := p.Figure(key)
	return f.Value
}

// Number is a value that is a number.
func (p Platform) Number(key string) (n float64, ok bool) {
	f, ok := p.Figure(key)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(f.Value, 64)
	return n, err == nil
}

// Int is a value that is a whole number, 0 where it is not known.
func (p Platform) Int(key string) int {
	n, _ := p.Number(key)
	return int(n)
}

// Source returns where a value was read: the document, or that it is unsourced.
func (p Platform) Source(key string) string {
	f, ok := p.Figure(key)
	if !ok {
		return "not known"
	}
	return f.Source.String()
}

// Map returns a value that assigns numbers to the numbers from 0 to n-1: "0-7:1 8-15:0". ok is false if it is
// unknown or incomplete.
func (p Platform) Map(key string, n int) (to []int, ok bool) {
	to = make([]int, n)
	for i := range to {
		to[i] = -1
	}
	for _, part := range strings.Fields(p.Word(key)) {
		from, what, _ := strings.Cut(part, ":")
		lo, hi, ranged := strings.Cut(from, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		v, err3 := strconv.Atoi(what)
		if err1 != nil || err2 != nil || err3 != nil || a < 0 || b >= n || v < 0 {
			return nil, false
		}
		for ; a <= b; a++ {
			to[a] = v
		}
	}
	return to, !slices.Contains(to, -1)
}
