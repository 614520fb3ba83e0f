package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/field"
	"railyard/internal/importing"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/trace"
	"railyard/internal/whatif"
	"railyard/internal/workload"
	"railyard/unit"
)

type exportCmd struct {
	From  string   `arg:"" help:"Scenario file (YAML), or a run directory" placeholder:"SCENARIO|RUN"`
	As    string   `help:"Format: goal, goal-binary, chakra, htsim-cm or simai" required:"" placeholder:"FORMAT"`
	Job   string   `help:"Job to export, if there are several" placeholder:"NAME"`
	Out   string   `help:"File to write; prefix of files per rank, as in PREFIX.0.et (standard output)" placeholder:"FILE"`
	Force bool     `help:"Replace existing files" with:"out"`
	Set   []string `help:"Override a value (lb=spray); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	JSON  bool     `help:"Print the list of files as JSON" with:"out"`
}

func (c *exportCmd) Help() string {
	var b strings.Builder
	b.WriteString(`Writes the computations, transfers and dependencies of all ranks in the format of another simulator.
The report lists what the format cannot express.

Examples:
  railyard export scenarios/gpt13b-128.yaml --as goal --out gpt13b.goal
  railyard export scenarios/pod64-alltoall.yaml --as htsim-cm --out a2a.cm
  railyard export runs/pod64-001 --as chakra --out et/pod64  # et/pod64.0.et, …

Formats:
`)
	for _, w := range trace.Writers() {
		fmt.Fprintf(&b, "  %-16s %s\n", w.Name, w.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// exported is the JSON output of export.
type exported struct {
	Format string   `json:"format"`
	Ranks  int      `json:"ranks"`
	Files  []string `json:"files"`
	Bytes  int64    `json:"bytes"`
	trace.Report
}

// Run is the export command.
func (c *exportCmd) Run(e *env) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	dag, err := c.job(plan)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(c.Out, ".et")
	if name == "" {
		name = scenariofile.Slug(plan.Name, c.From)
	}
	files, said, err := trace.Export(c.As, name, dag)
	if err != nil {
		if c.known() {
			return input.Fault(fmt.Errorf("%s %w", c.From, err))
		}
		return field.Under("--as", err)
	}
	if c.Out == "" {
		if len(files) > 1 {
			return field.New("--out", "is missing: %s has %s", c.As, unit.Plural(len(files), "file"))
		}
		_, err := e.stdout.Write(files[0].Text)
		return err
	}
	if len(files) == 1 && c.As != "chakra" {
		files[0].Name = c.Out
	}
	return c.write(e, files, &exported{Format: c.As, Ranks: dag.Ranks, Report: said})
}

// known reports whether the format is written.
func (c *exportCmd) known() bool {
	for _, w := range trace.Writers() {
		if w.Name == c.As {
			return true
		}
	}
	return false
}

// plan reads the scenario, or that of a run.
func (c *exportCmd) plan() (*scenario.Plan, error) {
	st, err := os.Stat(c.From)
	if err != nil || !st.IsDir() {
		return scenariofile.Plan(c.From, c.Set, nil)
	}
	m, err := result.ReadManifest(c.From)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s is not a run: %w", c.From, err))
	}
	plan, err := whatif.OfRun(c.From, m, func(name string) ([]byte, error) {
		return input.Text(name, scenariofile.MaxSize)
	}).Plan(&whatif.Unchanged)
	if err != nil {
		return nil, input.Fault(err)
	}
	return plan, nil
}

// job finds the work to export.
func (c *exportCmd) job(plan *scenario.Plan) (*workload.DAG, error) {
	var names []string
	for i := range plan.Jobs {
		if j := &plan.Jobs[i]; j.Name == c.Job || c.Job == "" && len(plan.Jobs) == 1 {
			return j.DAG, nil
		}
		names = append(names, plan.Jobs[i].Name)
	}
	if c.Job == "" {
		return nil, field.New("--job", "is missing: there are %s", strings.Join(names, ", "))
	}
	return nil, field.Choice("--job", c.Job, names, "unknown job %s", field.Quote(c.Job))
}

// write writes the files and lists them.
func (c *exportCmd) write(e *env, files []trace.File, out *exported) error {
	for _, f := range files {
		if dir := filepath.Dir(f.Name); len(files) > 1 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := output.WriteBytes(f.Name, c.Force, f.Text); err != nil {
			return err
		}
		out.Files = append(out.Files, f.Name)
		out.Bytes += int64(len(f.Text))
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	first := out.Files[0]
	if n := len(out.Files); n > 1 {
		first += " to " + filepath.Base(out.Files[n-1])
	}
	t := &importing.Trace{Format: c.As, Ranks: out.Ranks, Report: out.Report}
	_, err := fmt.Fprintf(e.stdout, "%swritten to %s, %s\n", t.Words(), first, unit.Bytes(out.Bytes).Show())
	return err
}
