package sweep

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"railyard/internal/cause"
	"railyard/internal/output"
	"railyard/internal/study/space"

	"github.com/parquet-go/parquet-go"
)

// Names of the results.
const (
	CSVName     = "results.csv"
	ParquetName = "results.parquet"
)

// Column is a parameter of the study as a column: its values are quantities of one kind in base units, or words.
type Column struct {
	Key  string
	Kind space.Kind
}

// Name returns the head of the column.
func (c Column) Name() string { return c.Key + c.Kind.Suffix() }

// Columns returns the parameters of all designs.
func (s *Study) Columns() (all []Column) {
	for _, d := range s.designs {
		for i := range d.space.Params {
			p := &d.space.Params[i]
			k := slices.IndexFunc(all, func(c Column) bool { return c.Key == p.Key })
			switch {
			case k < 0:
				all = append(all, Column{p.Key, p.Numeric()})
			case all[k].Kind != p.Numeric():
				all[k].Kind = space.Word
			}
		}
	}
	return all
}

// cell is a value of the results: a string, or a number if text is empty and set.
type cell struct {
	text   string
	number float64
	whole  uint64 // whether columns are integers that a float64 cannot represent
	set    bool   // a number
}

func word(s string) cell   { return cell{text: s} }
func count(x float64) cell { return cell{number: x, set: true} }
func (c cell) String() string {
	if c.set && c.whole > 0 {
		return strconv.FormatUint(c.whole, 10)
	}
	if c.set {
		return strconv.FormatFloat(c.number, 'f', -1, 64)
	}
	return c.text
}

// field describes a column of the results.
type column struct {
	name    string
	numeric bool
	whole   bool // numeric, and without a fraction
	of      func(t *Trial, r *Record) cell
}

// columns returns the columns of the results.
func (s *Study) columns() (all []column) {
	add := func(name string, numeric bool, of func(*Trial, *Record) cell) {
		all = append(all, column{name: name, numeric: numeric, of: of})
	}
	add("trial", false, func(t *Trial, _ *Record) cell { return word(t.ID.String()) })
	add("point", true, func(t *Trial, _ *Record) cell { return count(float64(t.Point)) })
	all = append(all, column{name: SeedKey, numeric: true, whole: true, of: func(t *Trial, _ *Record) cell {
		seed, ok := t.seed()
		return cell{whole: seed, set: ok}
	}})
	if s.Rungs() > 1 {
		add("rung", true, func(t *Trial, _ *Record) cell { return count(float64(t.Rung)) })
	}
	for _, c := range s.Columns() {
		if c.Key == SeedKey {
			continue // the column is there
		}
		add(c.Name(), c.Kind != space.Word, func(t *Trial, _ *Record) cell {
			v := s.Value(t.Point, c.Key)
			if v == "" || c.Kind == space.Word {
				return word(v)
			}
			x, _ := space.Quantity(v)
			return count(x)
		})
	}
	add("status", false, func(_ *Trial, r *Record) cell { return word(r.Status) })
	for _, f := range Figures {
		add(f.Column(), true, func(_ *Trial, r *Record) cell {
			if r.Figures == nil {
				return cell{}
			}
			return count(r.Figures[f.Name])
		})
	}
	for _, c := range cause.All() {
		add("cause_"+c.Key+"_ps", true, func(_ *Trial, r *Record) cell {
			if r.Figures == nil {
				return cell{}
			}
			return count(float64(r.Causes[c.Key]))
		})
	}
	add("error", false, func(_ *Trial, r *Record) cell { return word(r.Error) })
	return all
}

// rows calls each with the records of all trials that have one, in the order of the designs.
func (s *Study) each(do func(*Trial, *Record) error) error {
	for t := range s.planned() {
		r, err := s.store.Get(t.ID)
		if err == nil && r != nil {
			err = do(t, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Write writes results.csv and results.parquet with the trials that have ended.
func (s *Study) Write() error {
	columns := s.columns()
	return cmp.Or(
		output.Write(filepath.Join(s.Dir, CSVName), true, func(w io.Writer) error { return s.csv(w, columns) }),
		output.Write(filepath.Join(s.Dir, ParquetName), true, func(w io.Writer) error { return s.parquet(w, columns) }))
}

func (s *Study) csv(w io.Writer, columns []column) error {
	out := csv.NewWriter(w)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	err := out.Write(line)
	if err != nil {
		return err
	}
	err = s.each(func(t *Trial, r *Record) error {
		for i, c := range columns {
			line[i] = c.of(t, r).String()
		}
		return out.Write(line)
	})
	out.Flush()
	return cmp.Or(err, out.Error())
}

// batch is the number of rows per write.
const batch = 1024

func (s *Study) parquet(w io.Writer, columns []column) error {
	out := parquet.NewWriter(w, schema(columns), parquet.Compression(&parquet.Zstd))
	rows := make([]parquet.Row, 0, batch)
	flush := func() error {
		_, err := out.WriteRows(rows)
		rows = rows[:0]
		return err
	}
	err := s.each(func(t *Trial, r *Record) error {
		row := make(parquet.Row, len(columns))
		for i, c := range columns {
			switch v := c.of(t, r); {
			case c.whole && v.set:
				row[i] = parquet.Int64Value(int64(v.whole)).Level(0, 1, i)
			case c.numeric && v.set:
				row[i] = parquet.DoubleValue(v.number).Level(0, 1, i)
			case c.numeric:
				row[i] = parquet.NullValue().Level(0, 0, i)
			default:
				row[i] = parquet.ByteArrayValue([]byte(v.text)).Level(0, 0, i)
			}
		}
		if rows = append(rows, row); len(rows) == batch {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return cmp.Or(err, out.Close())
}

// schema has the columns in their order, which a parquet.Group would sort: optional numbers, and strings.
func schema(columns []column) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		kind, tag := reflect.TypeFor[string](), c.name+",dict"
		switch {
		case c.whole:
			kind, tag = reflect.TypeFor[uint64](), c.name+",optional"
		case c.numeric:
			kind, tag = reflect.TypeFor[float64](), c.name+",optional"
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("C%d", i), Type: kind,
			Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))}
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Elem().Interface())
}

// Logarithmic reports whether the values of a key belong to a range whose steps are factors.
func (s *Study) Logarithmic(key string) bool {
	return slices.ContainsFunc(s.designs, func(d *Design) bool {
		return slices.ContainsFunc(d.space.Params, func(p space.Param) bool {
			return p.Key == key && p.Range != nil && p.Range.Log()
		})
	})
}
