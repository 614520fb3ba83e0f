package site

import (
	_ "embed"
	"encoding/json"
	"slices"

	"railyard/internal/sheet"
	"railyard/unit"
)

// Model is a switch as its data sheet, or a system that runs on it, describes it.
type Model struct {
	Key, Name string
	Ports     string     // front panel
	Split     int        // cables that a port may be broken out into
	Radix     int        // maximum number of ports, split; 0: unknown
	Buffer    unit.Bytes `json:"buffer_bytes"` // part of its memory that packets can use; 0: unknown
	Cell      unit.Bytes `json:"cell_bytes"`   // allocation unit of memory; 0: unknown

	Rows  int    // rows of its front panel, whose ports are numbered down the columns; 0: not known
	Lanes int    // serial lanes of a port of the highest rate, 0: not known
	OS    string // operating system, if there is only one
}

//go:embed switches.json
var switchData []byte

// models are switches that people build AI fabrics of. Entries of switches.json without a source are unsourced,
// such as buffers of GX2 and ports of an 8122: Cisco's and Arista's data sheets were not available. No public
// source for the latencies was found. A buffer is the largest pool that a shipped configuration of SONiC makes, or
// the memory that FBOSS counts as available: a chip keeps a part of its memory for itself.
var (
	models  []Model
	Sheets  = load(switchData, &models) // data sheets of switches, in the order of models
	servers []Server
	Boxes   = load(serverData, &servers) // of servers
)

// load reads a list of models with their properties.
func load[T any](data []byte, into *[]T) []sheet.Sheet {
	sheets, err := sheet.Read(data)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		panic(err) // the embedded table is wrong: our bug
	}
	return sheets
}

// ModelNames lists the keys.
func ModelNames() (names []string) {
	for _, m := range models {
		names = append(names, m.Key)
	}
	slices.Sort(names)
	return names
}

func modelOf(key string) *Model {
	if i := slices.IndexFunc(models, func(m Model) bool { return m.Key == key }); i >= 0 {
		return &models[i]
	}
	return nil
}

// Models lists the known switches.
func Models() []Model { return slices.Clone(models) }
