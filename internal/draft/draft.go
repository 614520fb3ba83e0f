// Package draft writes a first scenario from six answers: the number of GPUs, the server, the fabric, the
// oversubscription, the workload, and the choice of paths in switches. Questions lists the questions with their
// defaults. Ask asks at a terminal for the answers that flags do not give. Answers.Scenario returns commented YAML.
package draft

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/site"
)

// Answers holds the user's answers; an empty answer is open.
type Answers struct {
	GPUs, Server, Fabric, Oversubscription, Workload, LB string

	// Missed describes the oversubscription that was built instead of the requested one; "": the requested one.
	Missed string
	Rails  int // rails of which the file has one; 1: it has all
}

// Question is a question with its answer.
type Question struct {
	Flag     string // without dashes
	Text     string
	Default  string
	Accepted func() []string // nil: a number
	to       func(*Answers) *string
}

// Questions are the six questions in their order.
var Questions = []Question{
	{"gpus", "GPUs in total", "64", nil, func(a *Answers) *string { return &a.GPUs }},
	{"server", "Server", "dgx-h100", site.ServerNames, func(a *Answers) *string { return &a.Server }},
	{"fabric", "Fabric", "rail", Fabrics, func(a *Answers) *string { return &a.Fabric }},
	{"oversubscription", "Oversubscription of leaf switches (1: none)", "1", nil,
		func(a *Answers) *string { return &a.Oversubscription }},
	{"workload", "Workload", "llama-2-7b", Workloads, func(a *Answers) *string { return &a.Workload }},
	{"lb", "Load balancing", "ecmp", Policies, func(a *Answers) *string { return &a.LB }},
}

// fabrics are the kinds of fabrics with a description of each.
var fabrics = []struct{ name, text string }{
	{"rail", "a leaf switch for each GPU of a server, spines above"},
	{"rail-only", "a switch for each GPU of a server, no spines: rails meet over NVLink"},
	{"fat-tree", "three tiers, 1:1, servers of one GPU"},
}

// Fabrics lists the names of fabrics.
func Fabrics() (names []string) {
	for _, f := range fabrics {
		names = append(names, f.name)
	}
	return names
}

// Policies lists how switches of these fabrics choose paths.
func Policies() []string { return []string{"ecmp", "flowlet", "dlb", "spray", "spray-least"} }

// collectives are the workloads that are no training.
var collectives = []struct{ name, yaml, text string }{
	{"all-reduce", "collective: {kind: all-reduce, bytes: 64MiB, CHOICE}",
		"an all-reduce of 64 MiB over all GPUs; auto: as NCCL chooses on NVIDIA's GPUs"},
	{"all-to-all", "alltoall: {bytes: 16MiB}", "every GPU sends an equal share of 16 MiB to every other"},
	{"incast", "incast: {bytes: 2MB, fan_in: FAN}", "FAN GPUs send 2 MB each to the first GPU"},
	{"permutation", "permutation: {bytes: 2MB}", "every GPU sends 2 MB to the next of a random cycle"},
}

// Workloads lists collectives and models.
func Workloads() (names []string) {
	for _, c := range collectives {
		names = append(names, c.name)
	}
	return append(names, model.Names()...)
}

// most is the maximum number of accepted words that a question lists.
const most = 6

// Ask reads the answers that are open, a line each; an empty line is the default. A refused answer is requested
// again.
func (a *Answers) Ask(r io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(r)
	for i := range Questions {
		q := &Questions[i]
		for to := q.to(a); *to == ""; {
			fmt.Fprintf(w, "%s%s [%s]: ", q.Text, q.listed(), q.Default)
			if !lines.Scan() {
				return errors.Join(lines.Err(), field.New("--"+q.Flag, "is not answered"))
			}
			answer := cmp.Or(strings.TrimSpace(lines.Text()), q.Default)
			if err := q.check(answer); err != nil {
				fmt.Fprintln(w, "  "+err.Error())
				continue
			}
			*to = answer
		}
	}
	return nil
}

// listed returns the first accepted words of a question.
func (q *Question) listed() string {
	if q.Accepted == nil {
		return ""
	}
	all := q.Accepted()
	if len(all) > most {
		return fmt.Sprintf(" (%s … %d in total)", strings.Join(all[:most], ", "), len(all))
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// check refuses an answer that is not accepted.
func (q *Question) check(answer string) error {
	if q.Accepted != nil {
		if all := q.Accepted(); !slices.Contains(all, answer) {
			return field.Choice("--"+q.Flag, answer, all, "unknown value %s", field.Quote(answer))
		}
		return nil
	}
	if q.Flag == "oversubscription" {
		if x, ok := ratio(answer); !ok || !(x >= 1 && x <= 64) {
			return field.New("--"+q.Flag, "%s is not an oversubscription: write 2 or 2:1, up to 64:1", field.Quote(answer))
		}
		return nil
	}
	if x, err := strconv.ParseFloat(answer, 64); err != nil || !(x >= 1 && x <= 131_072) {
		return field.New("--"+q.Flag, "%s is out of range 1–131072", field.Quote(answer))
	}
	return nil
}

// Complete reports whether no question is left.
func (a *Answers) Complete() bool {
	return !slices.ContainsFunc(Questions, func(q Question) bool { return *q.to(a) == "" })
}

// ratio reads an oversubscription: 2, 1.5 or 2:1.
func ratio(text string) (x float64, ok bool) {
	above, below, two := strings.Cut(text, ":")
	x, err := strconv.ParseFloat(above, 64)
	if err != nil || !two {
		return x, err == nil
	}
	of, err := strconv.ParseFloat(below, 64)
	return x / of, err == nil
}

// Defaults sets open answers to their defaults, and refuses answers that are not accepted.
func (a *Answers) Defaults() error {
	for i := range Questions {
		q := &Questions[i]
		to := q.to(a)
		*to = cmp.Or(*to, q.Default)
		if err := q.check(*to); err != nil {
			return err
		}
	}
	return nil
}
