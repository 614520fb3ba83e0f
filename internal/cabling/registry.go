package cabling

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"railyard/internal/field"
)

// MaxSize bounds a file, MaxTotal all files of an import together.
const (
	MaxSize  = 32 << 20
	MaxTotal = 256 << 20
)

// File is a file's contents with its name, which is used in errors and may name a device.
type File struct {
	Name string
	Text []byte
}

// Format is a file format of cabling.
type Format struct {
	Name  string
	About string
	looks func(name, text string) bool // detects the format; the first match wins
	read  func(b *builder, text string) error
}

// formats in the order of detection: those with an unmistakable mark first.
var formats = []Format{
	{"dot", "Graphviz: nodes, edges, ports, labels with a rate", looksDot, readDot},
	{"lldpcli", "lldpcli show neighbors -f json, one file per device", looksLLDPJSON, readLLDPJSON},
	{"netbox-json", "NetBox's API: devices, interfaces, cables", looksNetboxJSON, readNetboxJSON},
	{"containerlab", "containerlab topology", looksClab, readClab},
	{"infragraph", "InfraGraph infrastructure", looksInfra, readInfra},
	{"astra-sim", "ASTRA-sim's network.yml of the analytical backend", looksAstra, readAstra},
	{"slurm", "Slurm's topology.conf for topology/tree", looksSlurm, readSlurm},
	{"htsim", "htsim's fat tree (.topo)", looksHtsim, readHtsim},
	{"lldp-nxos", "show lldp neighbors of NX-OS", looksNXOS, readNXOS},
	{"lldp-eos", "show lldp neighbors of EOS", looksEOS, readEOS},
	{"lldp-sonic", "show lldp table of SONiC", looksSONiC, readSONiC},
	{"simai", "SimAI's topology, GPUs and NVSwitches as nodes", looksSimAI, readSimAI},
	{"hpcc", "HPCC's topology.txt", looksHPCC, readHPCC},
	{"netbox-csv", "NetBox's CSV of devices, interfaces or cables", looksNetboxCSV, readNetboxCSV},
	{"csv", "list of cables with a header: devices, ports, rate, length", looksCSV, readCSV},
}

// Formats lists them.
func Formats() []Format { return formats }

// Names are the formats' names.
func Names() (names []string) {
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Read combines the cabling of several files, all in one format or each in its own, which is detected if format is
// empty. Contradictions are in the result, not an error. Neighbour tables' management networks are left out.
func Read(files []File, format string) (*Cabling, error) { return read(files, format, false) }

// ReadAll is Read with management networks.
func ReadAll(files []File, format string) (*Cabling, error) { return read(files, format, true) }

func read(files []File, format string, management bool) (c *Cabling, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *field.Error: // a limit is exceeded
			c, err = nil, x
		default:
			panic(x)
		}
	}()
	b := newBuilder()
	b.management = management
	var faults field.List
	total := 0
	for _, f := range files {
		if total += len(f.Text); total > MaxTotal {
			return nil, &field.Error{File: f.Name, Msg: "with this file there are more than 256 MiB to read"}
		}
		f.Text = bytes.TrimPrefix(f.Text, []byte("\ufeff")) // some editors write it there
		fm, err := pick(f, format)
		if err == nil {
			if b.file = f.Name; !slices.Contains(b.c.Formats, fm.Name) {
				b.c.Formats = append(b.c.Formats, fm.Name)
			}
			if first := b.c.Formats[0]; family(first) != family(fm.Name) {
				return nil, &field.Error{File: f.Name, Msg: fmt.Sprintf("is %s, and a file before it %s: each contains all cables, so together every cable would count twice; name one, or --format",
					fm.Name, first)}
			}
			err = fm.read(b, string(f.Text))
		}
		if err != nil {
			for _, e := range field.All(err) {
				if e.File == "" {
					e.File = f.Name
				}
				faults = append(faults, e)
			}
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	b.believe()
	if c = b.finish(); len(c.Nodes) == 0 {
		return nil, &field.Error{File: files[len(files)-1].Name, Msg: "contains no cabled node"}
	}
	return c, nil
}

// Looks returns the apparent format of a file, "" if unsupported.
func Looks(f File) string {
	fm, err := pick(f, "")
	if err != nil {
		return ""
	}
	return fm.Name
}

// family returns the group of formats that may be combined. Two files of a whole fabric would count every cable
// twice. Neighbour tables, however, describe one device, and NetBox's tables one kind of object.
func family(format string) string {
	for _, f := range []string{"lldp", "netbox"} {
		if strings.HasPrefix(format, f) {
			return f
		}
	}
	return format
}

// pick finds a file's format.
func pick(f File, format string) (*Format, error) {
	switch {
	case len(f.Text) > MaxSize:
		return nil, &field.Error{File: f.Name, Msg: "is larger than 32 MiB: that is not a list of cables"}
	case len(strings.TrimSpace(string(f.Text))) == 0:
		return nil, &field.Error{File: f.Name, Msg: "is empty"}
	case slices.Contains(f.Text, 0) || !utf8.Valid(f.Text):
		return nil, &field.Error{File: f.Name, Msg: "is a binary file, expected text"}
	}
	text := string(f.Text)
	for i := range formats {
		if fm := &formats[i]; fm.Name == format || format == "" && fm.looks(f.Name, head(text)) {
			return fm, nil
		}
	}
	if format != "" {
		return nil, field.Choice("--format", format, Names(), "%s is not a format", field.Quote(format)).ListedBy("railyard import --help")
	}
	return nil, &field.Error{File: f.Name, Msg: "unsupported format; set it with --format",
		Accepted: Names()}
}

// head is the part of a file that is sufficient for detection.
func head(text string) string { return text[:min(len(text), 64<<10)] }

// column returns the column, from 1, at which the i-th word of a line begins, from 0.
func column(line string, i int) int {
	at := 0
	for k, w := range strings.Fields(line) {
		if at += strings.Index(line[at:], w); k == i {
			return at + 1
		}
		at += len(w)
	}
	return 1
}

// lines calls a function with each line and its number, from 1, until it fails.
func lines(text string, visit func(n int, line string) error) error {
	n := 0
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		n++
		if err := visit(n, strings.TrimSuffix(line, "\r")); err != nil {
			return err
		}
		text = rest
	}
	return nil
}
