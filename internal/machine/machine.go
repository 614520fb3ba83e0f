package machine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/inside"
	"railyard/unit"
)

// Near is the distance of a NIC from a GPU, in the words of nvidia-smi.
type Near uint8

// Distances, from the nearest.
const (
	PIX  Near = iota + 1 // connected by one PCIe switch
	PXB                  // connected by several PCIe switches, without the CPU
	PHB                  // connected by the CPU's host bridge
	NODE                 // connected by several host bridges of a NUMA node
	SYS                  // connected by the link between CPUs
)

var nearNames = []string{"", "PIX", "PXB", "PHB", "NODE", "SYS"}

func (n Near) String() string { return nearNames[n] }

// Limits of a file and of its contents.
const (
	MaxSize = 4 << 20
	MaxGPUs = 64
	MaxNICs = 256
)

// NIC is a network card, or a port of one.
type NIC struct {
	Name string
	Rate unit.Rate // 0: unknown
	at   int       // for XML: index of its device
}

// Server is the inside of a server as a source reports it.
type Server struct {
	Format string
	GPUs   []string // names
	SM     int      // compute capability, 90 for an H100; 0: unknown
	NICs   []NIC    // NICs nearest to some GPU
	Apart  []string // NICs that are nearest to none
	Notes  []string // ignored parts

	// Uses is, by GPU, its NICs, as indices of NICs. If several GPUs are equally near to the nearest NICs, it is
	// the GPU's share of these.
	Uses [][]int
	// Near is, by GPU, the distance of those.
	Near []Near
	// Buses are PCIe links of known rate, with the NICs whose whole traffic uses them.
	Buses []Bus

	links   [][]int // by pair of GPUs: NVLinks between them, or to their common switch
	through bool    // by a switch
	pcie    func(a, b int) unit.Rate
}

// Bus is a PCIe link, with its payload rate in one direction.
type Bus struct {
	Rate unit.Rate
	NICs []int
}

// Read reads a server from a file of either format. Errors are *field.Error.
func Read(name string, text []byte) (*Server, error) {
	fail := func(format string, args ...any) (*Server, error) {
		return nil, &field.Error{File: name, Msg: fmt.Sprintf(format, args...)}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case len(text) > MaxSize:
		return fail("is larger than %d bytes, the limit of a server's topology", MaxSize)
	case len(bytes.TrimSpace(text)) == 0:
		return fail("is empty")
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return fail("is a binary file, expected the output of nvidia-smi topo -m or NCCL's XML")
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")) {
		return readXML(name, text)
	}
	return readMatrix(name, text)
}

// settle finds each GPU's NICs, by distance.
func (s *Server) settle(all []NIC, near [][]Near) {
	best := make([][]int, len(s.GPUs)) // NICs as near as any
	used := make([]bool, len(all))
	for g := range s.GPUs {
		least := Near(0)
		for n := range all {
			if d := near[g][n]; least == 0 || d < least {
				least, best[g] = d, nil
			}
			if near[g][n] == least {
				best[g] = append(best[g], n)
			}
		}
		s.Near = append(s.Near, least)
		for _, n := range best[g] {
			used[n] = true
		}
	}
	at := make([]int, len(all))
	for n := range all {
		if at[n] = len(s.NICs); used[n] {
			s.NICs = append(s.NICs, all[n])
		} else {
			s.Apart = append(s.Apart, all[n].Name)
		}
	}
	for g := range s.GPUs {
		var with []int // GPUs that have the same ones
		for k := range s.GPUs {
			if slices.Equal(best[k], best[g]) {
				with = append(with, k)
			}
		}
		i, n := slices.Index(with, g), len(best[g])
		first, last := i*n/len(with), (i+1)*n/len(with)
		var uses []int
		for _, nic := range best[g][first:max(last, first+1)] {
			uses = append(uses, at[nic])
		}
		s.Uses = append(s.Uses, uses)
	}
}

// Links returns the number of NVLinks of a GPU, the least of any.
func (s *Server) Links() (least int) {
	for g, row := range s.links {
		sum := 0
		for k, n := range row {
			if s.through {
				sum = max(sum, n)
			} else if k != g {
				sum += n
			}
		}
		if g == 0 || sum < least {
			least = sum
		}
	}
	return least
}

// Join builds the pipes between the GPUs, of NVLinks of the given rate and of PCIe between GPUs without any. It
// returns nil if the source has no links, and the GPU's defaults apply.
func (s *Server) Join(link, pcie unit.Rate) (*inside.Fabric, error) {
	n := len(s.GPUs)
	if s.links == nil || n < 2 {
		return nil, nil
	}
	if s.through {
		return inside.Switched(n, link*unit.Rate(s.Links())), nil
	}
	rates := make([][]unit.Rate, n)
	for a := range rates {
		rates[a] = make([]unit.Rate, n)
		for b := range rates[a] {
			if a == b {
				continue
			}
			rates[a][b] = link * unit.Rate(s.links[a][b])
			if rates[a][b] > 0 {
				continue
			}
			if s.pcie != nil {
				rates[a][b] = s.pcie(a, b)
			}
			if rates[a][b] == 0 {
				rates[a][b] = pcie
			}
			if rates[a][b] == 0 {
				return nil, fmt.Errorf("%s and %s are connected by PCIe alone, whose rate the source does not contain: set server.pcie", s.GPUs[a], s.GPUs[b])
			}
		}
	}
	return inside.Pairs(rates), nil
}

// String describes it in a few lines.
func (s *Server) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n", s.Format, unit.Plural(len(s.GPUs), "GPU"), unit.Plural(len(s.NICs), "NIC"))
	for g, uses := range s.Uses {
		var names []string
		for _, n := range uses {
			names = append(names, s.NICs[n].Name)
		}
		fmt.Fprintf(&b, "%s: %s (%v)\n", s.GPUs[g], strings.Join(names, ", "), s.Near[g])
	}
	if len(s.Apart) > 0 {
		fmt.Fprintf(&b, "nearest to no GPU: %s\n", strings.Join(s.Apart, ", "))
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	return b.String()
}
