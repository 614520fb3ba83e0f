package rates

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot/plotter"
)

// MaxCurves is how many queue pairs a panel shows.
const MaxCurves = 8

// OfRanks reads what ranks wrote of their queue pairs' rates: ms, Gbit/s. Those that never changed, such as the
// receivers', and those after the first MaxCurves are omitted.
func OfRanks(dir string) (all []plotter.XYs, err error) {
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
			if len(points) > 1 && len(all) < MaxCurves {
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

// averaged draws the mean of steps over each of maxBins parts of the time until an end, because a window over a
// round trip changes with each answer.
func averaged(steps plotter.XYs, end float64) (means plotter.XYs) {
	const maxBins = 150
	wide := end / maxBins
	at, now := 0, 0.0 // the current step, and its start
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

// readRates reads a log of rates (Log.Write) as steps, one curve for each queue pair, in their order.
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
