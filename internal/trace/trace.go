// Package trace reads what other tools say that ranks do: GOAL schedules, lists of flows. One file a format,
// behind one registry; each says what it mapped, what it had to guess and what it left out.
package trace

import (
	"bytes"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/tally"
	"railyard/internal/workload"
)

// File is a file with its name.
type File struct {
	Name string
	Text []byte
}

// Trace is what files say.
type Trace struct {
	Format string
	Ranks  int
	DAG    *workload.DAG
	Report Report
}

// Report and Count say what became of a trace's parts.
type (
	Report = tally.Report
	Count  = tally.Count
)

// note counts one more of something.
func note(list *[]Count, what, file string, line int) { tally.Note(list, what, file, line) }

// Format is one that traces come in.
type Format struct {
	Name, About string
	// Is reports whether a file looks like one, by its name and its first bytes.
	Is   func(name string, head []byte) bool
	read func(files []File) (*Trace, error)
}

// formats are those that are known, the more particular first.
var formats = []Format{
	{"goal-binary", "GOAL schedules of LogGOPSim and ATLAHS, as their compiler writes them", isGoalBinary,
		readGoalBinary},
	{"goal", "GOAL schedules as text: send, recv, calc, requires", isGoal, readGoal},
	{"chakra", "Chakra's execution traces, one per rank (name.0.et): protobuf, gzipped too, or JSON",
		isChakra,
		readChakra},
	{"simai", "SimAI's workloads, of AICB: layers with times and collectives", isSimAI, readSimAI},
	{"htsim-cm", "htsim's connection matrices (.cm): from, to, start or trigger, bytes", isMatrix,
		readMatrix},
	{"hpcc-flows", "HPCC's flow.txt: a count, then src dst priority port bytes seconds", isFlows, readFlows},
}

// Formats lists them.
func Formats() []Format { return slices.Clone(formats) }

// Names are those of the formats.
func Names() (all []string) {
	for _, f := range formats {
		all = append(all, f.Name)
	}
	return all
}

// head is how much of a file tells its format, behind the comments that it begins with.
const head = 4096

// beginning is as much of a file as tells its format.
func beginning(text []byte) []byte {
	end := 0
	for end < len(text) {
		line, _, _ := bytes.Cut(text[end:min(len(text), end+head)], []byte("\n"))
		if words := bytes.TrimSpace(line); len(words) > 0 && words[0] != '#' &&
			!bytes.HasPrefix(words, []byte("//")) {
			break
		}
		n := bytes.IndexByte(text[end:], '\n')
		if n < 0 {
			break
		}
		end += n + 1
	}
	return text[:min(len(text), end+head)]
}

// Detect tells the format of a file; false: none is known.
func Detect(f File) (*Format, bool) {
	start := beginning(f.Text)
	for i := range formats {
		if formats[i].Is(f.Name, start) {
			return &formats[i], true
		}
	}
	return nil, false
}

// Read reads files of one format, which is recognised unless it is named.
func Read(format string, files ...File) (*Trace, error) {
	if len(files) == 0 {
		return nil, field.New("", "no file is named")
	}
	var f *Format
	if format == "" || format == "auto" {
		var ok bool
		if f, ok = Detect(files[0]); !ok {
			return nil, at(files[0].Name, 0, "is no trace that is known: %s", strings.Join(Names(), ", "))
		}
	} else {
		i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == format })
		if i < 0 {
			return nil, field.Choice("format", format, Names(), "there is no format %s", field.Quote(format))
		}
		f = &formats[i]
	}
	t, err := f.read(files)
	if err != nil {
		return nil, err
	}
	t.Format = f.Name
	return t, nil
}

// at is an error at a line of a file; 0: of the file.
func at(file string, line int, format string, args ...any) *field.Error {
	e := field.New("", format, args...)
	e.File, e.Line = file, line
	if line > 0 {
		e.Col = 1
	}
	return e
}

// maxRanks is how many a trace may have.
const maxRanks = 1 << 17
