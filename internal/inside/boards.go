package inside

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"railyard/internal/field"
	"railyard/internal/sheet"
	"railyard/unit"
)

// MaxLinks is the maximum number of NVLinks of a GPU: four times the number of a Blackwell GPU.
const MaxLinks = 72

// Board is the NVSwitch chips between GPUs. Chip k of each baseboard is one plane: packets cross from baseboard to
// baseboard between chips of the same number. Traffic is distributed evenly over all NVLinks of a GPU, because
// addresses are hashed. So a plane carries as large a part of each transfer as its part of the links.
type Board struct {
	Name   string
	GPUs   int   // number of GPUs in the NVLink domain
	Boards int   // baseboards, with equal parts of the GPUs
	Links  []int // by chip of a baseboard: NVLinks to each GPU
	Trunk  int   // NVLinks from a chip to that of the same number on each other baseboard
}

//go:embed boards.json
var boardData []byte

// product is a baseboard as boards.json has it.
type product struct {
	Key    string `json:"key"`
	GPU    string `json:"gpu"` // names, with spaces between
	GPUs   int    `json:"gpus"`
	Boards int    `json:"baseboards"`
	Links  []int  `json:"links"`
	Trunk  int    `json:"trunk"`
}

var (
	products = load()
	// BoardSheets are the data sheets of boards.json.
	BoardSheets, sheetsErr = sheet.Read(boardData)
)

func load() (all []product) {
	if err := errors.Join(json.Unmarshal(boardData, &all), sheetsErr); err != nil {
		panic(err) // the embedded table is wrong: our bug
	}
	return all
}

// BoardNames lists the baseboards of the catalog.
func BoardNames() (names []string) {
	for _, b := range products {
		names = append(names, b.Key)
	}
	return names
}

func (b *product) board() *Board {
	return &Board{Name: b.Key, GPUs: b.GPUs, Boards: b.Boards, Links: b.Links, Trunk: b.Trunk}
}

// BoardNamed returns a baseboard of the catalog; nil: unknown.
func BoardNamed(name string) *Board {
	for i := range products {
		if strings.EqualFold(products[i].Key, name) {
			return products[i].board()
		}
	}
	return nil
}

// BoardOf returns the baseboard of a GPU in domains of the given size; nil: unknown.
func BoardOf(gpu string, gpus int) *Board {
	for i := range products {
		b := &products[i]
		for name := range strings.FieldsSeq(b.GPU) {
			if name == gpu && b.GPUs == gpus {
				return b.board()
			}
		}
	}
	return nil
}

// PerGPU returns the number of NVLinks of a GPU.
func (b *Board) PerGPU() (n int) {
	for _, links := range b.Links {
		n += links
	}
	return n
}

// Chips returns the number of NVSwitch chips on all baseboards.
func (b *Board) Chips() int { return b.Boards * len(b.Links) }

// Plane returns the number of a chip on its baseboard, and its baseboard, from the chip's number among all.
func (b *Board) Plane(chip int) (plane, board int) { return chip % len(b.Links), chip / len(b.Links) }

// Left returns the remaining NVLinks of a GPU without some chips. A failed chip takes its peers on the other baseboards
// with it, as NVIDIA's Fabric Manager disables them (User Guide, NVSWITCH_FAILURE_MODE=1).
func (b *Board) Left(down map[int]bool) int {
	planes := map[int]bool{}
	for chip, is := range down {
		if plane, _ := b.Plane(chip); is {
			planes[plane] = true
		}
	}
	left := 0
	for plane, links := range b.Links {
		if !planes[plane] {
			left += links
		}
	}
	return left
}

// Check refuses baseboards that cannot be built. Keys are below that of the baseboard.
func (b *Board) Check() error {
	switch {
	case len(b.Links) == 0:
		return field.New("links", "is empty; accepted: the NVLinks of a GPU to each NVSwitch chip: [5, 4, 4, 5]")
	case b.GPUs%b.Boards != 0:
		return field.New("baseboards", "%d GPUs are not divisible by %d baseboards", b.GPUs, b.Boards)
	case b.Boards > 1 && b.Trunk == 0:
		return field.New("trunk", "is missing: the NVLinks between NVSwitch chips of the same number on two baseboards")
	case b.Boards == 1 && b.Trunk > 0:
		return field.New("trunk", "has no effect on one baseboard; baseboards sets their number")
	}
	for _, n := range b.Links {
		if n < 1 || n > MaxLinks {
			return field.Outside("links", 1, MaxLinks, n)
		}
	}
	if n := b.PerGPU(); n > MaxLinks {
		return field.New("links", "%d NVLinks of a GPU; at most %d", n, MaxLinks)
	}
	return nil
}

// Narrow reports whether the trunks between two baseboards carry less than the GPUs of one of them.
func (b *Board) Narrow() bool {
	return b.Boards > 1 && b.Trunk*len(b.Links) < b.GPUs/b.Boards*b.PerGPU()
}

// Across returns the rate between two baseboards for a rate of a GPU.
func (b *Board) Across(gpu unit.Rate) unit.Rate {
	return gpu / unit.Rate(b.PerGPU()) * unit.Rate(b.Trunk*len(b.Links))
}

// Fabric returns the pipes of GPUs on baseboards: one out of and one into each GPU, and, if the trunks are narrower
// than the GPUs of a baseboard, one from each baseboard to each other.
func (b *Board) Fabric(rate unit.Rate) *Fabric {
	f := Switched(b.GPUs, rate)
	if b.Narrow() {
		f.boards = b.Boards
		for range b.Boards * b.Boards {
			f.Rates = append(f.Rates, b.Across(rate))
		}
	}
	return f
}

// Change is a time from which GPUs of a domain have fewer NVLinks, or more.
type Change struct {
	Domain   int
	At       unit.Time
	Left, Of int // remaining NVLinks of each GPU, of the total
}
