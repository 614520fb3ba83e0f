package web

import (
	"net/url"
	"slices"

	"railyard/internal/result"
)

// pauseOf is a pause: its port and its start.
type pauseOf struct {
	port int32
	at   int64
}

// pauseRoots returns the roots of pauses; runs of earlier versions have none.
func (r *Directory) pauseRoots() ([]result.PauseRootRow, error) {
	if !slices.Contains(r.Manifest.Tables, "pause_roots") {
		return nil, nil
	}
	return table[result.PauseRootRow](r, "pause_roots")
}

// mainRoots returns the root that most of each pause is due to, -1 for a server.
func (r *Directory) mainRoots() (map[pauseOf]int32, error) {
	rows, err := r.pauseRoots()
	if err != nil {
		return nil, err
	}
	roots, most := map[pauseOf]int32{}, map[pauseOf]int64{}
	for i := range rows {
		x := &rows[i]
		k := pauseOf{x.Port, x.From}
		if _, known := roots[k]; known && x.Time <= most[k] {
			continue
		}
		if most[k], roots[k] = x.Time, x.Root; x.Kind == result.RootReceiver {
			roots[k] = -1
		}
	}
	return roots, nil
}

// roots ranks what ports were paused for in a window.
func (r *Directory) roots(q url.Values) (any, error) {
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	rows, err := r.pauseRoots()
	if err != nil {
		return nil, err
	}
	out := result.PauseRanking{From: from, To: to}
	if len(rows) == 0 {
		return out, nil
	}
	held, err := table[result.PauseHeldRow](r, "pause_flows")
	if err != nil {
		return nil, err
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return nil, err
	}
	if p := result.RankPauses(rows, held, from, to, r.ports, qps); p != nil {
		out = *p
	}
	return out, nil
}
