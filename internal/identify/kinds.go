package identify

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/counters"
	"railyard/internal/hostconf"
	"railyard/internal/jobscript"
	"railyard/internal/study/sweep"
	"railyard/internal/swconf/dialect"
	"railyard/internal/trace"
)

// kinds is the registry, in the order in which kinds are tried: the more particular first.
var kinds []Kind

func init() { // a directory is described by the kinds of its files
	kinds = []Kind{
		{"run", "run directory", isRun, showRun},
		{"run-file", "file of a run", isOwn("run.json", runFiles), showRunFile},
		{"run-trace", "trace of a run of Railyard", isOwnTrace, showOwnTrace},
		{"study-file", "file of a study", isOwn("study.json", studyFiles), showStudyFile},
		{"directory", "directory", func(f *File) bool { return f.Dir }, showDirectory},
		{"capture", "packet capture", isCapture, showCapture},
		{"table", "Parquet table", isTable, showTable},
		{"nccl-tests", "nccl-tests output", matches(ncclTests), showMeasured},
		{"perftest", "perftest output", matches(perftest), showMeasured},
		{"job-script", "job script", isArguments, showScript},
		{"machine", "topology of a server", matches(serverTopology), showMachine},
		{"slurm", "Slurm configuration", matches(slurmConf), showSlurm},
		{"study", "study of a sweep", func(f *File) bool { return sweep.IsStudy(string(f.Head)) }, showStudy},
		{"scenario", "scenario", matches(scenarioKeys), showScenario},
		{"counters", "device counters", isCounters, showCounters},
		{"configuration", "switch configuration", isConfiguration, showConfiguration},
		{"cabling", "cabling", isCabling, showCabling},
		{"trace", "trace", isTrace, showTrace},
		{"host", "host configuration", func(f *File) bool { return hostconf.Is(f.Head) }, showHost},
	}
}

// Kinds of files without a reader that recognizes them alone.
var (
	ncclTests      = regexp.MustCompile(`(?m)^(?:\s*\[\d+(?:,\d+)?\](?:<std\w+>)?:?|\s*\d+:)?\s*#.*\b(nThread|out-of-place|busbw)\b|"(?:busBw|bus_bw|average_bus_bandwidth)"`)
	perftest       = regexp.MustCompile(`(?m)^ *#bytes +#iterations|"BW_average"|(RDMA_\w+|Send|Atomic) (BW|Latency|Post List).*Test`)
	serverTopology = regexp.MustCompile(`(?m)^\s*(?:\x1b\[4m)?\s*GPU0\s+GPU1\b|^GPU0\s+X\b|^<system version=`)
	slurmConf      = regexp.MustCompile(`(?m)^(NodeName|PartitionName|ClusterName)=|^PARTITION +.*NODELIST`)
	scenarioKeys   = regexp.MustCompile(`(?m)^(fabric|workload|server):`)
)

// matches recognizes files by a pattern in their beginning.
func matches(form *regexp.Regexp) func(*File) bool {
	return func(f *File) bool { return form.Match(f.Head) }
}

// isCapture recognizes pcapng, and pcap in both byte orders, in microseconds and nanoseconds.
func isCapture(f *File) bool {
	for _, magic := range []string{"\n\r\r\n", "\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1"} {
		if bytes.HasPrefix(f.Head, []byte(magic)) {
			return true
		}
	}
	return false
}

func isTable(f *File) bool { return bytes.HasPrefix(f.Head, []byte("PAR1")) }

func isArguments(f *File) bool { return jobscript.KindOf(f.Path, f.Head) != "" }

// isConfiguration recognizes a file most of whose lines a switch's language explains.
func isConfiguration(f *File) bool {
	text := whole(f.Head)
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) { // JSON, SONiC's config_db.json, has no meaning in parts
		var err error
		if text, err = f.text(); err != nil {
			return false
		}
	}
	c, err := dialect.Parse(f.Path, text, "")
	return err == nil && c.Read > 0 && 2*(c.Read+c.Passed) >= c.Total
}

// isCounters recognizes outputs of commands that print counters. SONiC's configuration has the form of its databases,
// and no counters of ports.
func isCounters(f *File) bool {
	seen, _, err := counters.Read(f.Path, whole(f.Head))
	if err != nil || len(seen) == 0 {
		return false
	}
	if !slices.ContainsFunc(seen, func(s counters.Snapshot) bool { return !strings.Contains(s.Format, "lldp") }) {
		return !isCabling(f) // neighbors alone have no counters for diagnose
	}
	ports := slices.ContainsFunc(seen, func(s counters.Snapshot) bool { return len(s.Ports) > 0 })
	return ports || !isConfiguration(f)
}

// isCabling recognizes lists of cables.
func isCabling(f *File) bool {
	text, err := f.text()
	return err == nil && cabling.Looks(cabling.File{Name: f.Path, Text: text}) != ""
}

func isTrace(f *File) bool {
	_, ok := trace.Detect(trace.File{Name: f.Path, Text: f.Head})
	return ok
}

// whole returns the complete lines of a beginning, or all of a file that ends before.
func whole(head []byte) []byte {
	if len(head) < headSize {
		return head
	}
	return head[:bytes.LastIndexByte(head, '\n')+1]
}

// first returns the first words of a list, and how many there are more.
func first(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + " …"
}
