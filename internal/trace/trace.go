package trace

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/stream"
	"railyard/internal/tally"
	"railyard/internal/workload"
	"railyard/unit"
)

// File is a file with its name.
type File struct {
	Name string
	Text []byte
}

// Options are the settings for reading.
type Options struct {
	Format string     // "" or auto: recognised
	On     Fit        // the ranks' fabric; nil: unknown
	Step   int        // number of the step, for files that hold several; 0: the last of all
	Bytes  unit.Bytes // bytes of a collective whose file does not set them; 0: unknown
	// Open opens a file that is too large for memory, repeatedly; its Text is the beginning. Nil: Text is all.
	Open func(name string) (io.ReadCloser, error)
	// Keep receives the used parts of a streamed file, as a smaller file of the same format; may be nil.
	Keep func(name string) io.Writer
}

// kept writes a part of a file that was of use.
func (o *Options) kept(name string, parts ...string) {
	if o.Keep == nil {
		return
	}
	w := o.Keep(name)
	for _, p := range parts {
		io.WriteString(w, p) // the writer's owner checks for errors
	}
}

// stream reads a file from its beginning, decompressed if it is gzipped.
func (o *Options) stream(f File, read func(*stream.Source) error) error {
	from := io.NopCloser(bytes.NewReader(f.Text))
	if o.Open != nil {
		var err error
		if from, err = o.Open(f.Name); err != nil {
			return err
		}
	}
	defer from.Close()
	src, err := stream.New(f.Name, from)
	if err != nil {
		return err
	}
	return read(src)
}

// Trace is the content of trace files.
type Trace struct {
	Format string
	Ranks  int
	DAG    *workload.DAG
	Report Report
	// Runs counts the algorithms of collectives on the fabric of Options.On, a row for each; the same rows are in
	// Report.
	Runs []Count
	Site Site
	// Settings are scenario keys that correspond to the trace's own settings.
	Settings []Setting
	// Findings are the facts that matter first in the search for a fault of the traced job.
	Findings []string
}

// Setting is a key of a scenario, its value, and its source.
type Setting struct{ Block, Key, Value, From string }

// Site describes the hosts of a trace, if the trace does.
type Site struct {
	GPUs int       // per server; 0: unknown
	NICs int       // per server; 0: unknown
	Rate unit.Rate // rate of a NIC; 0: unknown
}

// Report and Count are the results for a trace's parts.
type (
	Report = tally.Report
	Count  = tally.Count
)

// note counts one more occurrence.
func note(list *[]Count, what, file string, line int) { tally.Note(list, what, file, line) }

// Format is a format of traces.
type Format struct {
	Name, About string
	// Is reports whether a file has the format, by its name and its first bytes.
	Is   func(name string, head []byte) bool
	read func(o *Options, files []File) (*Trace, error)
}

// formats are the supported ones, the more specific first.
var formats = []Format{
	{"goal-binary", "GOAL schedules of LogGOPSim and ATLAHS, binary", isGoalBinary,
		readGoalBinary},
	{"goal", "GOAL schedules as text: send, recv, calc, requires", isGoal, readGoal},
	{"pytorch-et", "PyTorch execution traces: calls without times, one per rank", isET, nil},
	{"chakra", "Chakra execution traces, one per rank: protobuf, gzip, JSON",
		isChakra,
		readChakra},
	{"msccl", "MSCCL algorithms (XML): chunks by GPU thread block", isMSCCL, nil},
	{"simai", "SimAI workloads of AICB: layers, times, collectives", isSimAI, readSimAI},
	{"htsim-cm", "htsim connection matrices (.cm): from, to, start, bytes", isMatrix,
		readMatrix},
	{"kineto", "PyTorch profiler (Kineto): JSON or gzip, of some or all ranks", isKineto,
		nil},
	{"flight-recorder", "PyTorch Flight Recorder: pickle or JSON, finds mismatches",
		isRecorder, nil},
	{"inspector", "NCCL Inspector: JSON per process; calibrate reads it too", isInspector,
		nil},
	{"nccl-log", "NCCL log with NCCL_DEBUG=INFO: INIT, COLL, GRAPH, NET …", isNCCLLog, nil},
	{"hpcc-flows", "HPCC flow.txt: count, then src dst priority port bytes time", isFlows, readFlows},
}

// Register adds a format whose files are flows between ranks; it is checked before the built-in ones. Package
// extend does it for extensions, before scenarios are read.
func Register(name, about string, is func(string, []byte) bool,
	read func(name string, text []byte) (ranks int, flows []workload.Flow, err error)) {
	formats = slices.Insert(formats, 0, Format{Name: name, About: about, Is: is,
		read: func(_ *Options, files []File) (*Trace, error) {
			if len(files) != 1 {
				return nil, at(files[1].Name, 0, "flows are one file; found %d", len(files))
			}
			t := &Trace{}
			ranks, flows, err := read(files[0].Name, files[0].Text)
			if err != nil {
				return nil, at(files[0].Name, 0, "%v", err)
			}
			if ranks < 2 || ranks > maxRanks || len(flows) == 0 {
				return nil, at(files[0].Name, 0, "contains %d flows of %d GPUs", len(flows), ranks)
			}
			for _, f := range flows {
				if f.Src == f.Dst || min(f.Src, f.Dst) < 0 || max(f.Src, f.Dst) >= ranks || f.Bytes < 1 || f.Start < 0 {
					return nil, at(files[0].Name, 0, "flow of %v from GPU %d to GPU %d, of %d GPUs", f.Bytes, f.Src, f.Dst, ranks)
				}
				note(&t.Report.Mapped, "flows, as transfers", files[0].Name, 0)
			}
			t.Ranks = ranks
			t.DAG, err = workload.Flows(ranks, flows)
			return t, err
		}})
}

// Formats lists them.
func Formats() []Format { return slices.Clone(formats) }

// Names returns the names of the formats.
func Names() (all []string) {
	for _, f := range formats {
		all = append(all, f.Name)
	}
	return all
}

// head is the number of bytes, after leading comments, from which a file's format is recognized.
const head = 4096

// beginning is the size of a file's start that is sufficient to detect its format.
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

// Detect returns the format of a file; false if it is unsupported.
func Detect(f File) (*Format, bool) {
	start := beginning(unpacked(f.unmarked()))
	for i := range formats {
		if formats[i].Is(f.Name, start) {
			return &formats[i], true
		}
	}
	return nil, false
}

// unmarked returns a file without the byte order mark that some editors write.
func (f File) unmarked() File {
	return File{f.Name, bytes.TrimPrefix(f.Text, []byte("\ufeff"))}
}

// unpacked is the beginning of a file, out of its gzip.
func unpacked(f File) []byte {
	if !bytes.HasPrefix(f.Text, []byte("\x1f\x8b")) {
		return f.Text
	}
	src, err := stream.New(f.Name, bytes.NewReader(f.Text))
	if err != nil {
		return f.Text
	}
	return src.Head(1 << 16)
}

// streamed are the formats whose files are read as streams, and may contain several steps.
var streamed = map[string]func(o *Options, files []File) (*Trace, error){"kineto": readKineto,
	"nccl-log": readNCCLLog, "flight-recorder": readRecorder, "inspector": readInspector,
	"pytorch-et": readET}

// sized are the formats whose files do not set the bytes of a collective.
var sized = map[string]func(o *Options, files []File) (*Trace, error){"msccl": readMSCCL}

// Streamed reports whether files of a format may exceed the memory limit, and contain steps.
func Streamed(format string) bool { return streamed[format] != nil }

// Read reads files of one format.
func (o Options) Read(files ...File) (*Trace, error) {
	switch {
	case len(files) == 0:
		return nil, field.New("", "no file is named")
	case o.Step < 0:
		return nil, field.New("step", "is %d, expected the number of a step, or 0", o.Step)
	}
	var f *Format
	if o.Format == "" || o.Format == "auto" {
		var ok bool
		if f, ok = Detect(files[0]); !ok {
			return nil, at(files[0].Name, 0, "is not a trace that is known: %s", strings.Join(Names(), ", "))
		}
	} else {
		i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == o.Format })
		if i < 0 {
			return nil, field.Choice("format", o.Format, Names(), "unknown format %s",
				field.Quote(o.Format)).ListedBy("railyard import --help")
		}
		f = &formats[i]
	}
	for i := range files {
		files[i] = files[i].unmarked()
	}
	name, files, beside := withProfiles(f.Name, files)
	read := streamed[name]
	if read == nil {
		if o.Bytes != 0 && sized[f.Name] == nil {
			return nil, field.New("bytes", "files of the format %s contain the bytes that they move", f.Name)
		}
		if o.Step != 0 {
			return nil, field.New("step", "files of the format %s hold no steps to choose from", f.Name)
		}
		if read = f.read; sized[f.Name] != nil {
			read = sized[f.Name]
		}
	}
	t, err := read(&o, files)
	if err != nil {
		return nil, err
	}
	if t.Format = name; beside != nil {
		why := "execution traces of ranks with profiles, which contain the same calls with times"
		if slices.ContainsFunc(t.Report.Guessed, func(c Count) bool { return strings.HasPrefix(c.What, unsized) }) {
			why = "execution traces of ranks with profiles that lack sizes of calls; the traces alone have them, without times"
		}
		note(&t.Report.Left, why, beside.Name, 0)
	}
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

// maxRanks is the largest number of ranks of a trace.
const maxRanks = 1 << 17
