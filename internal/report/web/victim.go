package web

import (
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// VictimPicture is the slowest message of a run that lost most of its time to PFC pauses, and the incast that they are
// for, in which it does not end.
type VictimPicture struct {
	QP       int32    `json:"qp"`
	From     string   `json:"from"` // hosts
	To       string   `json:"to"`
	Time     int64    `json:"time_ps"`
	Ideal    int64    `json:"ideal_ps"`
	Path     []int32  `json:"path"`     // ports
	Root     int32    `json:"root"`     // port of the incast
	Receiver string   `json:"receiver"` // host that the incast ends at
	Senders  []string `json:"senders"`  // hosts
	Flows    int      `json:"flows"`    // queue pairs at the root
}

// delayed draws the victim of a run's first root of pauses, if the main cause are pauses.
func (a *Answer) delayed(r *Directory) error {
	s := &r.Summary
	if len(a.Losses) == 0 || s.Slowest == nil || s.PauseRoots == nil || len(s.PauseRoots.Roots) == 0 {
		return nil
	}
	root := &s.PauseRoots.Roots[0]
	if c, _ := cause.Find(a.Losses[0].Key); c.ID != cause.Pause || root.Kind != "egress" {
		return nil
	}
	rows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return err
	}
	qps, err := table[result.QPRow](r, "qps")
	if err != nil {
		return err
	}
	paths, err := table[result.PathRow](r, "paths")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(rows, func(m result.FlowRow) bool {
		return m.From == s.Slowest.From && m.To == s.Slowest.To && m.Done-m.Posted == s.Slowest.Time && m.QP >= 0
	})
	if at < 0 || int(rows[at].QP) >= len(qps) || root.Port < 0 || int(root.Port) >= len(r.ports) {
		return nil
	}
	host := func(name string) string { name, _, _ = strings.Cut(name, "/"); return name }
	v := &VictimPicture{QP: rows[at].QP, Time: s.Slowest.Time, Ideal: s.Slowest.Ideal, Root: root.Port,
		From: host(qps[rows[at].QP].From), To: host(qps[rows[at].QP].To), Receiver: r.ports[root.Port].Peer}
	for _, p := range paths {
		if p.QP == v.QP {
			v.Path = append(v.Path, p.Port)
		}
		if p.Port != v.Root || p.QP < 0 || int(p.QP) >= len(qps) || host(qps[p.QP].To) != v.Receiver {
			continue
		}
		v.Flows++
		if from := host(qps[p.QP].From); !slices.Contains(v.Senders, from) {
			v.Senders = append(v.Senders, from)
		}
	}
	if len(v.Senders) > 1 && v.To != v.Receiver && !slices.Contains(v.Path, v.Root) {
		a.Victim = v
	}
	return nil
}
