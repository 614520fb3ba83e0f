package inside

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/unit"
)

// MaxGPUs is the largest number of GPUs that NVLink connects: 576 in NVIDIA's largest plan.
const MaxGPUs = 576

// Fabric is pipes of one direction each, and paths through them.
type Fabric struct {
	GPUs  int
	Rates []unit.Rate // by pipe
	ways  [][]int32   // by from*GPUs+to: the pipes in order; nil: each GPU has one out and one in
	kind  string
	delay *unit.Time // delay from end to end; nil: NVLink's

	boards int // baseboards with a pipe between each two, after the GPUs' pipes; 0: no such pipes
}

// Switched connects GPUs by a non-blocking switch, such as NVSwitch: each has a pipe out, then one in.
func Switched(gpus int, rate unit.Rate) *Fabric {
	f := &Fabric{GPUs: gpus, Rates: make([]unit.Rate, 2*gpus), kind: "NVLink"}
	for i := range f.Rates {
		f.Rates[i] = rate
	}
	return f
}

// Mesh connects any two GPUs directly at a rate, as AMD's XGMI and the ports inside a Gaudi server do: a transfer uses
// only the link between its two GPUs.
func Mesh(gpus int, pair unit.Rate) *Fabric {
	rates := make([][]unit.Rate, gpus)
	for i := range rates {
		rates[i] = make([]unit.Rate, gpus)
		for k := range rates[i] {
			if k != i {
				rates[i][k] = pair
			}
		}
	}
	return Pairs(rates)
}

// Pairs connects GPUs directly, each two at a rate of their own; 0 for unconnected ones.
func Pairs(rates [][]unit.Rate) *Fabric {
	f := &Fabric{GPUs: len(rates), ways: make([][]int32, len(rates)*len(rates)), kind: "pair link"}
	for i, row := range rates {
		for k, r := range row {
			if r > 0 {
				f.ways[i*f.GPUs+k] = []int32{int32(len(f.Rates))}
				f.Rates = append(f.Rates, r)
			}
		}
	}
	return f
}

// Media returns the inside of a storage server. It has a pipe from its memory, end 0, to its media, end 1, and one
// back, each with a rate and the media's latency.
func Media(read, write unit.Rate, latency unit.Time) *Fabric {
	f := Pairs([][]unit.Rate{{0, write}, {read, 0}})
	f.kind, f.delay = "storage media", &latency
	return f
}

// Delay returns the latency from end to end for a latency of NVLink.
func (f *Fabric) Delay(nvlink unit.Time) unit.Time {
	if f.delay != nil {
		return *f.delay
	}
	return nvlink
}

// Way returns the pipes of a transfer, in order; none if two GPUs are not connected. The result may use buf.
func (f *Fabric) Way(from, to int, buf []int32) []int32 {
	if f.boards > 0 {
		if a, b := f.boardOf(from), f.boardOf(to); a != b {
			return append(buf[:0], int32(2*from), int32(2*f.GPUs+a*f.boards+b), int32(2*to+1))
		}
	}
	if f.ways == nil {
		return append(buf[:0], int32(2*from), int32(2*to+1))
	}
	return f.ways[from*f.GPUs+to]
}

// MaxWay is the maximum number of pipes of a transfer.
const MaxWay = 3

func (f *Fabric) boardOf(gpu int) int { return gpu / (f.GPUs / f.boards) }

// Joined reports whether there is a path from every GPU to every other, or else a pair without one.
func (f *Fabric) Joined() (from, to int, all bool) {
	for i := 0; f.ways != nil && i < f.GPUs; i++ {
		for k := range f.GPUs {
			if i != k && len(f.ways[i*f.GPUs+k]) == 0 {
				return i, k, false
			}
		}
	}
	return 0, 0, true
}

// Rate returns the maximum rate of one transfer: that of the slowest pipe on its path.
func (f *Fabric) Rate(from, to int) (least unit.Rate) {
	var buf [MaxWay]int32
	for i, p := range f.Way(from, to, buf[:]) {
		if r := f.Rates[p]; i == 0 || r < least {
			least = r
		}
	}
	return least
}

// Slowest returns the lowest rate of a pair; Widest the lowest total rate of a GPU from all others.
func (f *Fabric) Slowest() (least unit.Rate) {
	first := true
	for i := range f.GPUs {
		for k := range f.GPUs {
			if r := f.Rate(i, k); i != k && (first || r < least) {
				least, first = r, false
			}
		}
		if f.ways == nil {
			break // all are equal
		}
	}
	return least
}

// Paired reports whether GPUs are connected directly.
func (f *Fabric) Paired() bool { return f != nil && f.ways != nil }

// Even reports whether they are connected directly, any two at the same rate.
func (f *Fabric) Even() bool { return f.Paired() && slices.Min(f.Rates) == slices.Max(f.Rates) }

// Kind returns the name of the pipes in reports.
func (f *Fabric) Kind() string { return f.kind }

// Check refuses what cannot be.
func (f *Fabric) Check() error {
	if f.GPUs > MaxGPUs {
		return field.New("", "%d GPUs share NVLink; at most %d do", f.GPUs, MaxGPUs)
	}
	if from, to, ok := f.Joined(); !ok {
		return fmt.Errorf("GPU %d cannot reach GPU %d inside the server", from+1, to+1)
	}
	return nil
}
