package validate

import (
	"fmt"
	"math"
	"slices"

	"railyard/internal/goodput"
	"railyard/internal/model"
)

// goodputs holds days of training with failures to closed forms and to what Llama 3's makers observed.
func goodputs() ([]Row, error) {
	forms := must(goodputForms())
	llama := must(goodputLlama())
	meta, err := researchClusters()
	return slices.Concat(forms, llama, meta, fewRates()), err
}

const dalySource = "Daly, FGCS 22 (2006), complete model"

// daly returns Daly's best interval between checkpoints of the given cost, in seconds (equation 37).
func daly(stall, mtbf float64) float64 {
	x := stall / (2 * mtbf)
	return math.Sqrt(2*stall*mtbf)*(1+math.Sqrt(x)/3+x/9) - stall
}

// useful is the share of time that work takes which is kept: a segment of work and checkpoint fails
// e^(segment/mtbf) - 1 times before it succeeds (Daly's equation 20), and failures strike while the job starts
// again, but not while one is being noticed.
func useful(interval, stall, mtbf, detect, restart float64) float64 {
	return interval / ((math.Exp((interval+stall)/mtbf) - 1) * math.Exp(restart/mtbf) * (mtbf + detect))
}

// goodputForms are jobs whose share of useful time is known.
func goodputForms() ([]Row, error) {
	job := goodput.Input{GPUs: 16384, PerServer: 8, Days: 54, Spares: -1, Seed: 1, Seeds: 40,
		Rates: &goodput.Rates{},
		Stall: 30 * goodput.Second, Interval: 10 * goodput.Minute}
	r := must(goodput.Run(job, nil))
	rows := []Row{within("effective time in percent, nothing fails, 30 s of checkpoint each 10 min",
		"1 less the checkpoints' share", 100*600.0/630, 100*r.Chosen.Effective.Mean, 1e-4, "%.3f")}
	for _, hours := range []float64{0.5, 3, 24} {
		job.Interval, job.Detect, job.Restart = 0, goodput.Minute, 5*goodput.Minute
		job.Rates = &goodput.Rates{Rates: []goodput.Rate{{Component: "software", MTBF: hours, Per: goodput.PerJob}}}
		r = must(goodput.Run(job, nil))
		mtbf := hours * 3600
		interval := daly(30, mtbf)
		rows = append(rows,
			within(fmt.Sprintf("effective time in percent at Daly's interval, a failure each %g h", hours),
				dalySource, 100*useful(interval, 30, mtbf, 60, 300), 100*r.Chosen.Effective.Mean, 0.005, "%.2f"))
		worst := 0.0
		for _, p := range r.Points {
			worst = max(worst, math.Abs(p.Effective.Mean/useful(p.Interval, 30, mtbf, 60, 300)-1))
		}
		best := math.Abs(r.Best/interval - 1)
		rows = append(rows,
			Row{Claim: fmt.Sprintf("the same from an eighth of that interval to eight times it: largest difference, %g h", hours), Source: dalySource, Expected: "< 1 %",
				Ours: fmt.Sprintf("%.2f %%", 100*worst), Diff: "bound", OK: worst < 0.01},
			Row{Claim: fmt.Sprintf("the best of those intervals is Daly's or the next one, %g h", hours),
				Source: dalySource, Expected: "within a factor of 1.42", Ours: fmt.Sprintf("%.2f", r.Best/interval),
				Diff: "bound", OK: best < 0.42})
	}
	return rows, nil
}

// fewRates are rows for the published rates of smaller jobs, as drawn.
func fewRates() (rows []Row) {
	for _, c := range []struct {
		set    string
		gpus   int
		perDay float64
	}{{"opt", 992, 1.75}, {"bloom", 384, 1.5 / 7}} {
		rates, _ := goodput.Named(c.set)
		r := must(goodput.Run(goodput.Input{GPUs: c.gpus, PerServer: 8, Days: 100, Spares: -1, Seed: 1, Seeds: 100,
			Rates: rates, Stall: goodput.Minute, Restart: 10 * goodput.Minute}, nil))
		rows = append(rows, within(fmt.Sprintf("failures a day on %d GPUs, drawn over 100 seeds", c.gpus), rates.Source,
			c.perDay, r.Parts[0].Drawn/100, 0.05, "%.3f"))
	}
	return rows
}

// goodputLlama is the 54 days of Llama 3 405B. The paper states neither the detection time nor the restart time:
// MegaScale's published 10 minutes for detection and diagnosis are used for both together.
func goodputLlama() ([]Row, error) {
	const source = "The Llama 3 Herd of Models, section 3.3.4 and table 5"
	m := must(model.Builtin("llama-3.1-405b"))
	const storage = 2e12 // bytes per second, sustained: section 3.3.1
	write := goodput.Seconds(float64(m.Params()) * 14 / storage)
	job := goodput.Input{GPUs: 16384, PerServer: 8, Days: 54, Spares: -1, Seed: 1, Seeds: 100,
		Rates: goodput.Llama3(),
		Stall: write, Restart: 10*goodput.Minute + write}
	r := must(goodput.Run(job, nil))
	drawn := 0.0
	for _, p := range r.Parts {
		drawn += p.Drawn
	}
	budget := 0.0 // minutes of noticing and starting that leave 90 %
	for useful(daly(job.Stall.Seconds(), r.MTBF), job.Stall.Seconds(), r.MTBF, 0, budget*60+write.Seconds()) > 0.9 {
		budget += 0.1
	}
	return []Row{
		within("Llama 3: interruptions in 54 days on 16,384 GPUs", source, 419, drawn, 0.02, "%.1f"),
		{Claim: "Llama 3: interruptions a day", Source: source, Expected: "about 8",
			Ours: fmt.Sprintf("%.2f", drawn/54),
			Diff: "-", OK: math.Round(drawn/54) == 8},
		{Claim: "Llama 3: effective time, checkpoints of 5.7 TB at 2 TB/s, 10 min until it runs again",
			Source: source + "; MegaScale, NSDI 2024, section 6.3: < 10 min", Expected: "> 90 %",
			Ours: fmt.Sprintf("%.2f %% (%.2f to %.2f over 100 seeds)", 100*r.Chosen.Effective.Mean,
				100*r.Chosen.Effective.Min, 100*r.Chosen.Effective.Max), Diff: "bound",
			OK: r.Chosen.Effective.Min > 0.9},
		{Claim: "Llama 3: time until it runs again for which 90 % is left, minutes (Daly)", Source: source +
			"; not published", Expected: "> 10", Ours: fmt.Sprintf("%.1f", budget), Diff: "bound",
			OK: budget > 10},
	}, nil
}
