package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"railyard/cc"
	"railyard/internal/allreduce"
	"railyard/internal/allreduce/rates"
	"railyard/internal/lab"
	"railyard/internal/ranks"
	"railyard/unit"
)

// Variant is the result of one congestion control for the all-reduce.
type Variant struct {
	CC  string        `json:"cc"`
	Row allreduce.Row `json:"result"`
	// Of the switches' ports, while it ran.
	Marked  int64 `json:"ce_marked"`
	Dropped int64 `json:"dropped"`

	Rates []plotter.XYs `json:"-"` // rates of queue pairs that changed them: ms, Gbit/s
}

// Controls splits a list of choices: an item with a value belongs to the name before it.
func Controls(text string) ([]string, error) {
	if text == "all" {
		return slices.DeleteFunc(cc.Names(), func(name string) bool {
			_, err := cc.Parse(name)
			return err != nil
		}), nil
	}
	var list []string
	for _, w := range strings.Split(text, ",") {
		if strings.Contains(w, "=") && len(list) > 0 {
			list[len(list)-1] += "," + w
		} else {
			list = append(list, w)
		}
	}
	for i, choice := range list {
		parsed, err := cc.Parse(choice)
		if err == nil {
			_, err = parsed.Make(unit.Gbps)
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(list[:i], choice) {
			return nil, fmt.Errorf("%s is repeated", choice)
		}
	}
	return list, nil
}

// AllReduce runs rdma allreduce with a rank on the first NIC of each host; rank 0 prints to out.
func AllReduce(ctx context.Context, s *lab.State, args []string, out, says io.Writer) error {
	var nics []lab.NIC
	seen := map[int]bool{}
	for _, n := range s.NICs {
		if !seen[n.Node] {
			seen[n.Node] = true
			nics = append(nics, n)
		}
	}
	crew := ranks.NewCrew(ctx, len(nics))
	defer crew.Cancel()
	for r, n := range nics {
		full := append([]string{"rdma", "allreduce", "--rank", fmt.Sprint(r), "--ranks", fmt.Sprint(len(nics)),
			"--rendezvous", fmt.Sprintf("%v:29500", nics[0].Addr), "--addr", n.Addr.String(), "--line-rate",
			fmt.Sprintf("%dbps", int64(s.Rate)), "--no-offload"},
			args...)
		prints := out
		if r != 0 {
			prints = nil
		}
		if err := crew.Start(r, prints, []string{"GOMAXPROCS=1"}, s.Inside(n.Node), full...); err != nil {
			return err
		}
	}
	err := crew.Wait(says)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Compare runs the all-reduce that args describe under one congestion control. It writes into dir, which it creates.
func Compare(ctx context.Context, s *lab.State, choice, dir string, args []string, says io.Writer) (*Variant, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	before, err := lab.Status(ctx, s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = AllReduce(ctx, s, append([]string{"--cc", choice, "--json", "--rate-log", filepath.Join(dir, "rates.csv")},
		args...), &out, says)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", choice, err)
	}
	after, err := lab.Status(ctx, s)
	if err != nil {
		return nil, err
	}
	v := &Variant{CC: choice}
	var rows []allreduce.Row
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil || len(rows) != 1 {
		return nil, fmt.Errorf("%s: rank 0 reported %d sizes of one, %v", choice, len(rows), err)
	}
	v.Row = rows[0]
	for i := range after {
		for k, p := range after[i].Ports {
			v.Marked += p.Marked - before[i].Ports[k].Marked
			v.Dropped += p.Dropped - before[i].Ports[k].Dropped
		}
	}
	v.Rates, err = rates.OfRanks(dir)
	return v, err
}
