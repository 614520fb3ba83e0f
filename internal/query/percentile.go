package query

import (
	"database/sql/driver"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
	"modernc.org/sqlite"
)

// SQLite as it is built here has no percentiles. percentile(X, P), P from 0 to 100, and median(X) are the nearest
// rank, as in a report: the smallest value that P percent of all do not exceed. Rows without a number do not count.
func init() {
	sqlite.MustRegisterFunction("percentile", &sqlite.FunctionImpl{NArgs: 2, Deterministic: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &ranked{}, nil }})
	sqlite.MustRegisterFunction("median", &sqlite.FunctionImpl{NArgs: 1, Deterministic: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &ranked{p: 50}, nil }})
}

// ranked collects the values of a group.
type ranked struct {
	values []float64
	p      float64
}

// number returns an argument as a number.
func number(v driver.Value) (x float64, ok bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (r *ranked) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if len(args) == 2 {
		p, ok := number(args[1])
		if !ok || !(p >= 0 && p <= 100) {
			return fmt.Errorf("percentile(X, P): P is %v, accepted: 0 to 100", args[1])
		}
		r.p = p
	}
	if x, ok := number(args[0]); ok {
		r.values = append(r.values, x)
	}
	return nil
}

func (r *ranked) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	if x, ok := number(args[0]); ok {
		i := slices.Index(r.values, x)
		r.values = slices.Delete(r.values, i, i+1)
	}
	return nil
}

func (r *ranked) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if len(r.values) == 0 {
		return nil, nil
	}
	sorted := slices.Sorted(slices.Values(r.values))
	return stat.Quantile(r.p/100, stat.Empirical, sorted, nil), nil
}

func (r *ranked) Final(*sqlite.FunctionContext) {}
