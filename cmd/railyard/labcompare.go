package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"railyard/cc"
	"railyard/internal/allreduce"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/lab"
	"railyard/internal/output"
	"railyard/internal/report/plot"
	"railyard/unit"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/vgimg"
)

type labCompareCmd struct {
	labName
	CC       string `help:"Congestion controls, as rdma allreduce has them, one after another: NAME[:PROFILE][,PARAMETER=VALUE],NAME...; all for every one that runs on sockets." default:"dcqcn,swift,nscc" name:"cc" placeholder:"LIST"`
	Bytes    string `help:"Size of the all-reduce." default:"8MiB"`
	Iters    int    `help:"Timed all-reduces of each." default:"5" range:"1,1000000"`
	Warmup   int    `help:"All-reduces before those." default:"1" range:"0,1000000"`
	QPs      int    `help:"Queue pairs per neighbour." default:"1" name:"qps" range:"1,64"`
	RatePlot string `help:"Plot the sending rates over time, one panel for each." placeholder:"FILE.png"`
	Force    bool   `help:"Replace an existing plot."`
	JSON     bool   `help:"Print as JSON."`
}

func (c *labCompareCmd) Help() string {
	return `One rank per host, as lab rdma has it, again and again under one congestion control after another.
Where the lab's cables are narrower between switches than to hosts, as in lab-2x2.yaml, marks, delay and
losses are those of the narrow ports. The plot has what each allows its queue pairs, a rate or what its
window lets go in a round trip, in the mean over short times.

Examples:
  railyard lab up scenarios/lab-2x2.yaml --rate 200Mbps
  railyard lab compare --cc dcqcn,swift,nscc --rate-plot cc.png
  railyard lab compare --cc dcqcn:nic,swift,base_target=2ms --bytes 16MiB --json`
}

// labVariant is what one congestion control made of the all-reduce.
type labVariant struct {
	CC  string        `json:"cc"`
	Row allreduce.Row `json:"result"`
	// Of the switches' ports, while it ran.
	Marked  int64 `json:"ce_marked"`
	Dropped int64 `json:"dropped"`

	curves plot.Curves
}

// listOfControls splits a list of choices: what has a value belongs to the name before it.
func listOfControls(text string) ([]string, error) {
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
			return nil, fmt.Errorf("%s stands twice", choice)
		}
	}
	return list, nil
}

// Run is the lab compare command.
func (c *labCompareCmd) Run(e *env) error {
	list, err := listOfControls(c.CC)
	if err != nil {
		return input.Fault(fmt.Errorf("--cc: %w", err))
	}
	if _, err := parseSize("--bytes", c.Bytes, 1, allreduce.MaxBytes); err != nil {
		return err
	}
	if err := c.plotFits(); err != nil {
		return input.Fault(err)
	}
	s, err := lab.Load(c.Name)
	if err != nil {
		return labError(err)
	}
	dir, err := os.MkdirTemp("", "railyard-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := interruptible()
	defer cancel()
	var all []labVariant
	for i, choice := range list {
		v, err := c.variant(ctx, e, s, choice, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		if all = append(all, *v); !c.JSON {
			labVariantRow(e.stdout, i, v)
		}
	}
	if c.JSON {
		err = printJSON(e.stdout, all)
	}
	if c.RatePlot != "" && err == nil {
		err = c.draw(all)
	}
	return err
}

// plotFits refuses a plot that could not be written when all has run.
func (c *labCompareCmd) plotFits() error {
	switch {
	case c.RatePlot == "" && c.Force:
		return field.New("--force", "means nothing without a file to write")
	case c.RatePlot == "":
		return nil
	case strings.ToLower(filepath.Ext(c.RatePlot)) != ".png":
		return fmt.Errorf("--rate-plot writes .png, found %q", c.RatePlot)
	}
	_, err := newRateLog("", c.RatePlot, "none", c.Force)
	return err
}

// variant runs the all-reduce under one congestion control.
func (c *labCompareCmd) variant(ctx context.Context, e *env, s *lab.State, choice,
	dir string) (*labVariant, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	before, err := lab.Status(ctx, s)
	if err != nil {
		return nil, labError(err)
	}
	var out bytes.Buffer
	err = ranksInLab(ctx, s, []string{"--cc", choice, "--bytes", c.Bytes, "--iters", fmt.Sprint(c.Iters),
		"--warmup", fmt.Sprint(c.Warmup), "--qps", fmt.Sprint(c.QPs), "--json",
		"--rate-log", filepath.Join(dir, "rates.csv")}, &out, e.stderr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", choice, err)
	}
	after, err := lab.Status(ctx, s)
	if err != nil {
		return nil, labError(err)
	}
	v := &labVariant{CC: choice}
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
	v.curves = plot.Curves{Line: float64(s.Rate) / 1e9,
		Label: fmt.Sprintf("%s: %.1f ms", choice, v.Row.TimeUS/1e3)}
	if v.curves.Rates, err = ratesOfRanks(dir); len(v.curves.Rates) == 0 {
		v.curves.Label += ", no rate changed"
	}
	return v, err
}

// ratesOfRanks reads what ranks wrote of their queue pairs' rates: ms, Gbit/s. Those that never changed, as
// the receivers', are left out.
func ratesOfRanks(dir string) (all []plotter.XYs, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "rates-rank*.csv"))
	if err != nil {
		return nil, err
	}
	end := 0.0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		own, err := readRates(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(f), err)
		}
		for _, points := range own {
			if len(points) > 1 && len(all) < plot.MaxRates {
				all = append(all, points)
				end = max(end, points[len(points)-1].X)
			}
		}
	}
	for i, points := range all {
		all[i] = averaged(points, end)
	}
	return all, nil
}

// averaged draws the mean of steps over each of maxBins parts of the time until an end: a window over a round
// trip is another rate after each answer.
func averaged(steps plotter.XYs, end float64) (means plotter.XYs) {
	const maxBins = 150
	wide := end / maxBins
	at, now := 0, 0.0 // the step that is on, from when it counts
	for bin := range maxBins {
		until, sum := float64(bin+1)*wide, 0.0
		from := max(float64(bin)*wide, steps[0].X)
		if until <= steps[0].X {
			continue
		}
		for now = from; at < len(steps) && now < until; {
			next := until
			if at+1 < len(steps) {
				next = min(next, steps[at+1].X)
			}
			sum += steps[at].Y * max(0, next-now)
			if now = max(now, next); next < until {
				at++
			}
		}
		means = append(means, plotter.XY{X: (from + until) / 2, Y: sum / (until - from)})
	}
	return means
}

// readRates reads a log of rates (rateLog.write) as steps, one curve for each queue pair, in their order.
func readRates(from io.Reader) (all []plotter.XYs, err error) {
	lines, err := csv.NewReader(from).ReadAll()
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for _, l := range lines[min(1, len(lines)):] {
		if len(l) != 3 {
			return nil, errors.New("a rate is a time, a queue pair and Gbit/s")
		}
		at, err1 := strconv.ParseFloat(l[0], 64)
		rate, err2 := strconv.ParseFloat(l[2], 64)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		i, met := place[l[1]]
		if !met {
			i, place[l[1]] = len(all), len(all)
			all = append(all, nil)
		} else {
			all[i] = append(all[i], plotter.XY{X: at * 1e3, Y: all[i][len(all[i])-1].Y})
		}
		all[i] = append(all[i], plotter.XY{X: at * 1e3, Y: rate})
	}
	return all, nil
}

// labVariantRow prints one line of the table, the first with its head.
func labVariantRow(w io.Writer, i int, v *labVariant) {
	if i == 0 {
		fmt.Fprintf(w, "%-32s %10s %12s %7s %7s %7s %7s %8s %8s %7s\n", "congestion control", "time", "busbw",
			"cuts", "marks", "CNPs", "again", "timeouts", "drops", "#wrong")
		fmt.Fprintf(w, "%-32s %10s %12s\n", "", "(ms)", "(GB/s)")
	}
	r := &v.Row
	fmt.Fprintf(w, "%-32s %10.1f %12.4f %7d %7d %7d %7d %8d %8d %7d\n", v.CC, r.TimeUS/1e3, r.BusBW,
		r.Stats.Cuts, v.Marked, r.Stats.CNPs, r.Stats.Retransmissions, r.Stats.Timeouts, v.Dropped, r.Wrong)
}

// draw writes the plot: a panel for each.
func (c *labCompareCmd) draw(all []labVariant) error {
	var drawn []plot.Curves
	for _, v := range all {
		drawn = append(drawn, v.curves)
	}
	img, err := plot.Rates(drawn)
	if err != nil {
		return err
	}
	return output.Write(c.RatePlot, c.Force, func(w io.Writer) error {
		_, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(w)
		return err
	})
}
