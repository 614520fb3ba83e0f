package main

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"

	"github.com/parquet-go/parquet-go"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type planTrafficCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); nothing is simulated." placeholder:"SCENARIO"`
	Set      []string `help:"Override a value." placeholder:"KEY=VALUE" sep:"none"`
	Plot     string   `help:"Write heat maps, one per kind of parallelism: .png or .svg." placeholder:"FILE"`
	Parquet  string   `help:"Write the pairs that carry traffic as a table." placeholder:"FILE"`
	Force    bool     `help:"Replace files that exist." with:"plot,parquet"`
	JSON     bool     `help:"Print as JSON."`
}

func (c *planTrafficCmd) Help() string {
	return `Who sends how much to whom in one step, by kind of parallelism and by how far it goes.

Examples:
  railyard plan traffic scenarios/gpt13b-128.yaml --plot traffic.png
  railyard plan traffic scenarios/pod64-llama2-7b.yaml --parquet traffic.parquet --json`
}

// trafficRow is a row of the Parquet table.
type trafficRow struct {
	Src      int32 `parquet:"src_rank"`
	Dst      int32 `parquet:"dst_rank"`
	Tensor   int64 `parquet:"tensor_bytes"`
	Pipeline int64 `parquet:"pipeline_bytes"`
	Data     int64 `parquet:"data_bytes"`
	Context  int64 `parquet:"context_bytes"`
	Expert   int64 `parquet:"expert_bytes"`
	Other    int64 `parquet:"other_bytes"`
}

// Run is the plan traffic command.
func (c *planTrafficCmd) Run(e *env) error {
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	plan, t, err := c.matrix()
	if err != nil {
		return err
	}
	var lost error
	if c.Parquet != "" {
		lost = c.table(t)
	}
	if c.Plot != "" && early(lost) == nil {
		lost = errors.Join(lost, c.draw(t, plan.Name))
	}
	if early(lost) != nil {
		return lost
	}
	if c.JSON {
		return errors.Join(printJSON(e.stdout, trafficJSON(t)), lost)
	}
	printTraffic(e.stdout, plan.Name, t)
	return lost
}

// matrix adds up a scenario's traffic.
func (c *planTrafficCmd) matrix() (*scenario.Plan, *planner.Traffic, error) {
	doc, err := scenariofile.Read(c.Scenario, c.Set)
	if err != nil {
		return nil, nil, err
	}
	plan, err := doc.Sums(scenariofile.Beside(c.Scenario))
	if err != nil {
		return nil, nil, input.Fault(err)
	}
	jobs, err := plan.Mix()
	if err != nil {
		return nil, nil, err
	}
	t, err := planner.Matrix(jobs.DAG, plan.Graph)
	if err != nil {
		return nil, nil, input.Fault(err)
	}
	return plan, t, nil
}

func trafficJSON(t *planner.Traffic) map[string]any {
	kinds, tiers := map[string]any{}, map[string]any{}
	for k, name := range planner.KindNames {
		kinds[name] = map[string]any{"bytes": t.Kinds[k], "pairs_share": t.Carriers(k)}
	}
	for i, name := range planner.TierNames {
		by := map[string]int64{}
		for k, kind := range planner.KindNames {
			by[kind] = t.ByTier[i][k]
		}
		tiers[strings.ReplaceAll(name, " ", "_")] = by
	}
	return map[string]any{
		"ranks":        t.Ranks,
		"bytes":        t.Total(),
		"pairs":        len(t.Pairs),
		"silent_share": t.Silent(),
		"kinds":        kinds,
		"tiers":        tiers,
	}
}

func printTraffic(w io.Writer, name string, t *planner.Traffic) {
	total := float64(max(t.Total(), 1))
	silent := fmt.Sprintf("%.2f %%", 100*t.Silent())
	if silent == "100.00 %" && len(t.Pairs) > 0 {
		silent = "more than 99.99 %"
	}
	report.Wrap(w, "", fmt.Sprintf("%s: %s, %s in a step; %s of the pairs send nothing", name,
		unit.Plural(t.Ranks, "rank"), gigabytes(t.Total()), silent))
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "parallel\tbytes\tshare\tof pairs\t")
	for _, tier := range planner.TierNames {
		fmt.Fprint(tw, tier+"\t")
	}
	fmt.Fprintln(tw)
	for k, kind := range planner.KindNames {
		if t.Kinds[k] == 0 {
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%.2f %%\t%.3f %%\t", kind, gigabytes(t.Kinds[k]),
			100*float64(t.Kinds[k])/total, 100*t.Carriers(k))
		for i := range planner.TierNames {
			fmt.Fprintf(tw, "%s\t", gigabytes(t.ByTier[i][k]))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func gigabytes(b int64) string {
	switch {
	case b == 0:
		return "-"
	case b >= 1e13:
		return fmt.Sprintf("%.4g TB", float64(b)/1e12)
	}
	return fmt.Sprintf("%.4g GB", float64(b)/1e9)
}

func (c *planTrafficCmd) table(t *planner.Traffic) error {
	return output.Write(c.Parquet, c.Force, func(f io.Writer) error {
		w := parquet.NewGenericWriter[trafficRow](f, parquet.Compression(&parquet.Zstd))
		for _, p := range t.Pairs {
			b := p.Bytes
			row := trafficRow{int32(p.Src), int32(p.Dst), b[planner.KindTensor], b[planner.KindPipeline],
				b[planner.KindData],
				b[planner.KindContext], b[planner.KindExpert], b[planner.KindOther]}
			if _, err := w.Write([]trafficRow{row}); err != nil {
				return err
			}
		}
		return w.Close()
	})
}

// maxCells is how many cells a side of a heat map has at most.
const maxCells = 256

// grid is a heat map's data: logarithms of bytes, empty cells left out.
type grid struct {
	cells [][]float64
	per   int
}

func (g grid) Dims() (cols, rows int) { return len(g.cells), len(g.cells) }
func (g grid) X(c int) float64        { return float64(c*g.per) + float64(g.per-1)/2 }
func (g grid) Y(r int) float64        { return float64(r*g.per) + float64(g.per-1)/2 }
func (g grid) Z(c, r int) float64 {
	if b := g.cells[r][c]; b > 0 {
		return math.Log10(b)
	}
	return math.NaN()
}

// draw writes a heat map per kind of parallelism that sends, and one of all of it,
// on one colour scale.
func (c *planTrafficCmd) draw(t *planner.Traffic, name string) error {
	kinds := []int{}
	for k, b := range t.Kinds {
		if b > 0 {
			kinds = append(kinds, k)
		}
	}
	kinds = append(kinds, planner.Kinds)
	lo, hi := scale(t, kinds)
	colours := func() palette.ColorMap {
		m := moreland.Kindlmann()
		m.SetMin(lo)
		m.SetMax(hi)
		return m
	}
	_, per := t.Cells(maxCells, planner.Kinds)
	tiles := make([][]*gonum.Plot, (len(kinds)+1)/2)
	for i, kind := range kinds {
		cells, _ := t.Cells(maxCells, kind)
		p := gonum.New()
		p.Title.Text = name + ": all traffic"
		if kind < planner.Kinds {
			p.Title.Text = planner.KindNames[kind] + " parallel"
		}
		p.X.Label.Text, p.Y.Label.Text = "receiving rank", "sending rank"
		h := plotter.NewHeatMap(grid{cells, per}, colours().Palette(128))
		h.Min, h.Max, h.NaN = lo, hi, color.White
		p.Add(h)
		if tiles[i/2] = append(tiles[i/2], p); i == len(kinds)-1 && i%2 == 0 {
			tiles[i/2] = append(tiles[i/2], nil)
		}
	}
	bar := gonum.New()
	bar.Add(&plotter.ColorBar{ColorMap: colours()})
	bar.X.Label.Text = fmt.Sprintf("log10 of bytes in a step between two ranks (a cell is %d x %d ranks)",
		per, per)
	bar.HideY()
	return output.Write(c.Plot, c.Force, func(f io.Writer) error { return c.paint(f, tiles, bar) })
}

// scale is the range of the colours: from the smallest cell of any map to somewhat
// above the largest, because the palette ends in white, which means nothing sent.
func scale(t *planner.Traffic, kinds []int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, k := range kinds {
		cells, _ := t.Cells(maxCells, k)
		for _, row := range cells {
			for _, b := range row {
				if b > 0 {
					lo, hi = math.Min(lo, math.Log10(b)), math.Max(hi, math.Log10(b))
				}
			}
		}
	}
	if math.IsInf(hi, 0) {
		return 0, 1
	}
	return lo - 0.1, hi + 0.3*math.Max(hi-lo, 1)
}

// paint lays the heat maps out in two columns with the colour scale below.
func (c *planTrafficCmd) paint(f io.Writer, tiles [][]*gonum.Plot, bar *gonum.Plot) error {
	const side, low = 24 * vg.Centimeter, 2.5 * vg.Centimeter
	high := side/2*vg.Length(len(tiles)) + low
	layout := func(canvas draw.Canvas) {
		top := draw.Crop(canvas, 0, 0, low, 0)
		for i, row := range gonum.Align(tiles, draw.Tiles{Rows: len(tiles), Cols: 2, PadX: vg.Centimeter,
			PadY: vg.Centimeter}, top) {
			for j := range row {
				if tiles[i][j] != nil {
					tiles[i][j].Draw(row[j])
				}
			}
		}
		bar.Draw(draw.Crop(canvas, 0, 0, 0, low-canvas.Size().Y))
	}
	to := plot.Picture(c.Plot, side, high)
	layout(draw.New(to))
	_, err := to.WriteTo(f)
	return err
}
