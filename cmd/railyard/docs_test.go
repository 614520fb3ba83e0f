package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/docs"
	"railyard/internal/manual"
	"railyard/internal/route"
	"railyard/internal/runner"
)

// TestDocs checks the documentation: each page is in a section, each link has a target, each page renders.
func TestDocs(t *testing.T) {
	site, err := documentation()
	if err != nil {
		t.Fatal(err)
	}
	broken, outside := site.Check()
	for _, b := range broken {
		t.Error(b)
	}
	for file, page := range outside {
		if _, err := os.Stat(filepath.Join("../../docs", file)); err != nil {
			t.Errorf("%s: %s does not exist", page, file)
		}
	}
	for _, p := range site.Pages() {
		if p.Section == manual.Unlisted {
			t.Errorf("%s is in no section: add it to contents in docspages.go", p.Path)
		}
		if _, err := site.HTML(p); err != nil {
			t.Error(err)
		}
	}
	if n := len(site.Pages()); n < 150 {
		t.Errorf("%d pages", n)
	}
}

// TestReadmeLinks checks the length of the README and the targets of its links.
func TestReadmeLinks(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n > 120 {
		t.Errorf("%d lines: what is more belongs to docs", n)
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(string(b), -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("%s does not exist", m[1])
		}
	}
}

// TestDocsCommand checks what the command prints and writes.
func TestDocsCommand(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"docs", "tutorials/first-run"}, exitOK, "# First run and its cause"},
		{[]string{"docs", "docs/tutorials/first-run.md"}, exitOK, "# First run and its cause"},
		{[]string{"docs", "./guides/scenarios.html"}, exitOK, "# Scenarios"},
		{[]string{"docs", "faq", "glossary"}, exitInput, "several pages"},
		{[]string{"docs", "--search", "headroom", "xoff"}, exitOK, "reference/keys/switch"},
		{[]string{"docs", "--search", "headroom xoff"}, exitOK, "reference/keys/switch"},
		{[]string{"docs", "--search", "headroom", "zzzz"}, exitOK, "pages with 1 of the 2 words"},
		{[]string{"docs", "--list"}, exitOK, "reference/columns"},
		{[]string{"docs", "--search", "FCT"}, exitOK, "guides/jobs"}, // a page with slowdowns
		{[]string{"docs", "--search", "flow completion time"}, exitOK, "guides/jobs"},
		{[]string{"docs", "--search", "headroom,xoff"}, exitOK, "reference/keys/switch"},
		{[]string{"docs", "--search", "zzzz"}, exitFailed, "no page contains a word of zzzz"},
		{[]string{"docs", "tutorials/frist-run"}, exitInput, "unknown page"},
		{[]string{"docs", "first-run"}, exitInput, `did you mean "tutorials/first-run"?`},
		{[]string{"docs", "failurs"}, exitInput, `did you mean "guides/failures"?`},
		{[]string{"docs", "--out", filepath.Join(dir, "site")}, exitOK, "files written"},
		{[]string{"docs", "--out", filepath.Join(dir, "site")}, exitInput, "--force"},
		{[]string{"docs", "--out", filepath.Join(dir, "site"), "--force"}, exitOK, "files written"},
		{[]string{"docs", "--list", "--out", dir}, exitInput, "--list"},
	} {
		code, out, errs := call(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: exit code %d, %.300s%s", c.args, code, out, errs)
		}
	}
}

// TestDocumentedPolicies checks the column of the table of load balancing policies that says which policies reorder
// packets.
func TestDocumentedPolicies(t *testing.T) {
	page, err := docs.Files.ReadFile("guides/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Path choice")
	table, _, _ = strings.Cut(table, "\n## ")
	reorders := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[1], -1) {
			reorders[m[1]] = strings.HasPrefix(cells[3], " yes")
		}
	}
	for _, name := range route.Names() {
		p := route.Lookup(name)
		if yes, ok := reorders[name]; !ok || yes != p.Reorders(p.Defaults) {
			t.Errorf("%s: in the table %v, reorders %v", name, ok, p.Reorders(p.Defaults))
		}
	}
}

// fence matches a command block of a document.
var fence = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestDocumentedCommands checks that the commands of README and documentation have the flags that they are shown with,
// also in blocks that the gate does not execute.
func TestDocumentedCommands(t *testing.T) {
	documents := []string{}
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, string(b))
	err = fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			b, err = docs.Files.ReadFile(name)
			documents = append(documents, string(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, text := range documents {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(m[1], "\\\n", " ")) {
				line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
				line, _, _ = strings.Cut(line, " >")
				line, _, _ = strings.Cut(line, " |")
				line = strings.TrimPrefix(strings.TrimSuffix(line, " &"), "RAILYARD_NATS_TOKEN=secret ")
				args := strings.Fields(strings.ReplaceAll(line, `"`, ""))
				if len(args) < 2 || args[0] != "railyard" || slices.Contains(args, "rdma") && args[1] == "lab" ||
					strings.ContainsAny(line, "'\"") || strings.Contains(line, "--sbatch") {
					continue
				}
				commands++
				if code, _, errs := call(t, append(args[1:], "--help")...); code != exitOK {
					t.Errorf("%s: %s", line, errs)
				}
			}
		}
	}
	if commands < 80 {
		t.Errorf("%d commands", commands)
	}
}

// TestChangelog checks that the first version of the changelog is the program's, because releases are named after
// it.
func TestChangelog(t *testing.T) {
	b, err := docs.Files.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^## (\S+)$`).FindSubmatch(b)
	if m == nil || string(m[1]) != runner.Release {
		t.Errorf("docs/CHANGELOG.md begins with version %s, the program is %s", m, runner.Release)
	}
}

// TestAbbreviations checks that the glossary spells out the abbreviations of the field. A search for an
// abbreviation or its long form thus finds both.
func TestAbbreviations(t *testing.T) {
	site, err := documentation()
	if err != nil {
		t.Fatal(err)
	}
	for short, long := range map[string]string{"FCT": "flow completion time", "JCT": "job completion time",
		"RTT": "round-trip time", "BDP": "bandwidth-delay product", "MFU": "model FLOPs utilization",
		"TP": "tensor parallelism", "PP": "pipeline parallelism", "DP": "data parallelism", "EP": "expert parallelism",
		"CP": "context parallelism", "ECMP": "equal-cost multipath", "PFC": "priority flow control",
		"ECN": "explicit congestion notification", "CNP": "congestion notification packet",
		"RTO": "retransmission timeout", "QP": "queue pair", "CC": "congestion control", "VOQ": "virtual output queue",
		"DLB": "dynamic load balancing", "INT": "in-band network telemetry", "WRED": "weighted random early detection"} {
		found := site.Find([]string{short})
		if spelled := site.Find(strings.Fields(long)); len(found) < 2 || len(spelled) < len(found) ||
			!slices.Equal(spelled[:len(found)], found) {
			t.Errorf("%s finds %d pages, %s %d", short, len(found), long, len(spelled))
		}
	}
}
