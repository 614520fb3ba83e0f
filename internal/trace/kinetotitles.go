package trace

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// titled begins the name of a user annotation in which PyTorch issues a call (c10d's Work, profilingTitle). With
// record_shapes it has the sizes and types of the input tensors. Profiles before PyTorch 2.2 have no other size.
const titled = "nccl:"

// title is such an annotation.
type title struct {
	span
	thread int64
	name   string
	args   *kinetoArgs
}

// entitle gives kernels without a collective that of record_param_comms, or of the annotation in which their thread
// launched them. Their group is not in such a profile. A process group has a stream of its own, so that one stream
// means one group, assumed to be the whole job.
func (k *kineto) entitle() {
	slices.SortStableFunc(k.titles, func(a, b title) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.from, b.from))
	})
	one, streams := int64(0), 0
	for i := range k.kernels {
		if x := &k.kernels[i]; x.call >= 0 && (streams == 0 || x.stream != one) {
			one = x.stream
			streams++
		}
	}
	for i := range k.kernels {
		x := &k.kernels[i]
		if x.call < 0 {
			continue
		}
		call := &k.calls[x.call]
		id, err := call.External.Int64()
		if more, is := k.comms[id]; is && err == nil && call.Coll == "" {
			more.kernel, more.line = call.kernel, call.line
			*call = more
		}
		if call.Coll != "" {
			continue
		}
		l := k.launched[x.link]
		at, exact := slices.BinarySearchFunc(k.titles, l, func(t title, l launch) int {
			return cmp.Or(cmp.Compare(t.thread, l.thread), cmp.Compare(t.from, l.at))
		})
		if !exact {
			at--
		}
		if l.at == 0 || at < 0 || k.titles[at].thread != l.thread || l.at > k.titles[at].to {
			continue
		}
		if t := &k.titles[at]; t.args != nil { // further kernels of a call are no calls
			call.describe(t)
			if t.args = nil; streams == 1 {
				call.Size = number(strconv.Itoa(k.info.World))
			}
		}
	}
}

// describe sets the collective, its size and type by an annotation, if that has all of them. An all-gather's output is
// its group's inputs; act multiplies.
func (x *kinetoArgs) describe(t *title) {
	total, known := elements(t.args.Dims)
	types, _ := t.args.Types.([]any)
	if !known || len(types) == 0 {
		return
	}
	for _, other := range types[1:] {
		if other != types[0] {
			return
		}
	}
	name, _ := types[0].(string)
	x.Coll, x.Type, x.titled = t.name, strings.TrimPrefix(strings.ToLower(name), "c10::"), true
	x.In = number(strconv.FormatInt(total, 10))
}

// elements counts the elements of tensors, whose dimensions are lists of numbers.
func elements(dims any) (n int64, ok bool) {
	tensors, _ := dims.([]any)
	for _, t := range tensors {
		sizes, list := t.([]any)
		product := 1.0
		for _, size := range sizes {
			x, number := size.(float64)
			if list = list && number && x >= 0; !list {
				break
			}
			product *= x
		}
		if !list || product > 1<<50 || product != math.Trunc(product) {
			return 0, false
		}
		n += int64(product)
	}
	return n, len(tensors) > 0 && n < 1<<50
}
