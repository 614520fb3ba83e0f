package web

import (
	"math"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// FailurePicture is the failure of the link at the place of a run's main cause, and its losses over time.
type FailurePicture struct {
	Link   string  `json:"link"` // "leaf-1:Eth3 – spine-1:Eth1"
	Port   int32   `json:"port"` // of its two the one with more drops
	Name   string  `json:"name"`
	Down   int64   `json:"down_ps"`
	Routes int64   `json:"routes_ps"` // when all routes had left it; the end of the failure if they never did
	Up     int64   `json:"up_ps"`     // the end of the run if it stays down
	Drops  int64   `json:"drops"`     // of both directions, meanwhile
	Width  float64 `json:"width_ps"`  // of a column
	Lost   []int64 `json:"lost"`      // drops per column, over the run
	// queue pair that retransmitted most
	QP          int32  `json:"qp"` // -1: none
	From        string `json:"from"`
	To          string `json:"to"`
	Retransmits int64  `json:"retransmitted_packets"`
}

// outage finds when a link was down at a time; false: it was up.
func (r *Directory) outage(link int, at int64) (down, up int64, is bool) {
	for _, c := range r.Topology.Changes {
		switch {
		case c.Link != link:
		case c.Down && c.At <= at && !is:
			down, up, is = c.At, r.span(), true
		case !c.Down && is && c.At >= at:
			return down, c.At, true
		case !c.Down:
			is = false
		}
	}
	return down, up, is
}

// failurePicture draws the losses of the link at a place, which was down then. It returns nil if it lost none.
func (r *Directory) failurePicture(place *result.CausePlace) (*FailurePicture, error) {
	at := slices.IndexFunc(r.Topology.Links, func(l result.TopologyLink) bool {
		return l.FromA == place.Port || l.FromB == place.Port
	})
	if at < 0 {
		return nil, nil
	}
	down, up, is := r.outage(at, place.At)
	if !is {
		return nil, nil
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	l := &r.Topology.Links[at]
	end := func(node int, port string) string { return r.Topology.Nodes[node].Name + ":" + port }
	top := &FailurePicture{Down: down, Up: up, Port: place.Port, Name: place.Name, QP: -1,
		Link:  end(l.A, l.APort) + " – " + end(l.B, l.BPort),
		Width: float64(r.span()) / pictureColumns, Lost: make([]int64, pictureColumns)}
	for i := range links {
		x := &links[i]
		if (x.Port == l.FromA || x.Port == l.FromB) && x.Drops > 0 && x.Start+x.Length > down && x.Start < up {
			top.Drops += x.Drops
			column := int(math.Floor(float64(x.Start+x.Length/2) / top.Width))
			top.Lost[max(0, min(column, pictureColumns-1))] += x.Drops
		}
	}
	if top.Drops == 0 {
		return nil, nil
	}
	top.Routes = top.Up
	for _, e := range r.Summary.LinkEvents {
		if e.At == top.Down && e.Routes > 0 {
			top.Routes = min(e.Routes, top.Up)
		}
	}
	return top, r.retransmits(top)
}

// retransmits finds the queue pair that retransmitted most.
func (r *Directory) retransmits(f *FailurePicture) error {
	rows, err := table[result.QPRow](r, "qps")
	if err != nil {
		return err
	}
	for i := range rows {
		if q := &rows[i]; q.Retrans > f.Retransmits {
			f.QP, f.From, f.To, f.Retransmits = q.QP, q.From, q.To, q.Retrans
		}
	}
	return nil
}

// failed draws the failure at the place of a run's main cause: capacity that is missing, or drops.
func (a *Answer) failed(r *Directory) (err error) {
	if a.Place == nil {
		return nil
	}
	if c, _ := cause.Find(a.Place.Cause); c.ID == cause.FailedCapacity || c.ID == cause.Retransmission {
		a.Failure, err = r.failurePicture(a.Place)
	}
	return err
}
