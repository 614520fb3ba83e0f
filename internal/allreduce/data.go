package allreduce

import (
	"slices"
	"unsafe"

	"railyard/internal/field"
)

// Op is a reduction.
type Op string

// Reductions.
const (
	Sum  Op = "sum"
	Prod Op = "prod"
	Max  Op = "max"
	Min  Op = "min"
)

// number are the element types.
type number interface {
	~float32 | ~float64 | ~int32 | ~int64 | ~uint8
}

// kind is the properties of an element type that the ring needs.
type kind interface {
	size() int
	// reduce puts op(a, b) into dst, element by element.
	reduce(dst, a, b []byte, op Op)
	// fill writes what rank contributes to elements first, first+1, ...
	fill(dst []byte, rank int, first int64, op Op)
	// wrong counts the elements that differ from the reduction over all ranks.
	wrong(got []byte, world int, first int64, op Op) int64
}

// kinds are the element types by NCCL's names.
var kinds = map[string]kind{
	"float32": typed[float32]{},
	"float64": typed[float64]{},
	"int32":   typed[int32]{},
	"int64":   typed[int64]{},
	"uint8":   typed[uint8]{},
}

// Types lists the element types.
func Types() []string {
	var out []string
	for k := range kinds {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

type typed[T number] struct{}

func (typed[T]) size() int { var v T; return int(unsafe.Sizeof(v)) }

// cast looks at bytes as elements. The bytes come from make and are aligned.
func cast[T number](b []byte) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(v)))
}

func (typed[T]) reduce(dst, a, b []byte, op Op) {
	d, x, y := cast[T](dst), cast[T](a), cast[T](b)
	x, y = x[:len(d)], y[:len(d)]
	switch op {
	case Prod:
		for i := range d {
			d[i] = x[i] * y[i]
		}
	case Max:
		for i := range d {
			d[i] = max(x[i], y[i])
		}
	case Min:
		for i := range d {
			d[i] = min(x[i], y[i])
		}
	default:
		for i := range d {
			d[i] = x[i] + y[i]
		}
	}
}

// value returns a rank's contribution to an element. It is a small integer, so sums and products of up to a
// thousand ranks are exact in every type and order. Products are of ones and a single two.
func value(rank int, i int64, op Op) int64 {
	if op == Prod {
		if i%61 == int64(rank)%61 && rank < 4 {
			return 2
		}
		return 1
	}
	return (i*7 + int64(rank)*13 + i>>8) % 11
}

func (typed[T]) fill(dst []byte, rank int, first int64, op Op) {
	for i, d := 0, cast[T](dst); i < len(d); i++ {
		d[i] = T(value(rank, first+int64(i), op))
	}
}

func (typed[T]) wrong(got []byte, world int, first int64, op Op) (n int64) {
	for i, g := range cast[T](got) {
		want := T(value(0, first+int64(i), op))
		for r := 1; r < world; r++ {
			v := T(value(r, first+int64(i), op))
			switch op {
			case Prod:
				want *= v
			case Max:
				want = max(want, v)
			case Min:
				want = min(want, v)
			default:
				want += v
			}
		}
		if g != want {
			n++
		}
	}
	return n
}

// ParseOp checks a reduction's name.
func ParseOp(s string) (Op, error) {
	switch o := Op(s); o {
	case Sum, Prod, Max, Min:
		return o, nil
	}
	return "", field.Choice("redop", s, []string{string(Sum), string(Prod), string(Max), string(Min)},
		"%s is not a reduction", field.Quote(s))
}
