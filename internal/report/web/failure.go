package web

import (
	"math"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// FailurePicture is the failed link that lost most packets, and its losses over time.
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

	link int
}

// outages lists the times at which links are down.
func (r *Directory) outages() (all []FailurePicture) {
	open := map[int]int{}
	for _, c := range r.Topology.Changes {
		i, down := open[c.Link]
		switch {
		case c.Down && !down:
			l := &r.Topology.Links[c.Link]
			open[c.Link] = len(all)
			end := func(node int, port string) string { return r.Topology.Nodes[node].Name + ":" + port }
			f := FailurePicture{Down: c.At, Up: r.span(), Port: l.FromA, QP: -1, link: c.Link,
				Link: end(l.A, l.APort) + " – " + end(l.B, l.BPort)}
			if r.ports[l.FromB].Drops > r.ports[l.FromA].Drops {
				f.Port = l.FromB
			}
			f.Name = r.ports[f.Port].Name
			all = append(all, f)
		case !c.Down && down:
			all[i].Up = c.At
			delete(open, c.Link)
		}
	}
	return all
}

// failurePicture draws the losses of the failed link that lost most. It returns nil if none lost a packet.
func (r *Directory) failurePicture() (*FailurePicture, error) {
	all := r.outages()
	if len(all) == 0 || r.Summary.DropsDown == 0 {
		return nil, nil
	}
	links, err := table[result.LinkRow](r, "links")
	if err != nil {
		return nil, err
	}
	width := float64(r.span()) / pictureColumns
	of := map[int32][]int{} // outages of a port
	for i := range all {
		all[i].Width, all[i].Lost = width, make([]int64, pictureColumns)
		l := &r.Topology.Links[all[i].link]
		of[l.FromA], of[l.FromB] = append(of[l.FromA], i), append(of[l.FromB], i)
	}
	for i := range links {
		x := &links[i]
		if x.Drops == 0 || x.Length <= 0 {
			continue
		}
		for _, j := range of[x.Port] {
			if f := &all[j]; x.Start+x.Length > f.Down && x.Start < f.Up {
				f.Drops += x.Drops
				at := int(math.Floor(float64(x.Start+x.Length/2) / width))
				f.Lost[max(0, min(at, pictureColumns-1))] += x.Drops
				break
			}
		}
	}
	top := &all[0]
	for i := range all {
		if all[i].Drops > top.Drops {
			top = &all[i]
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

// failed draws the failure of a run that lost most of its time to it: by capacity that is missing, or by its drops.
func (a *Answer) failed(r *Directory) (err error) {
	if len(a.Losses) == 0 {
		return nil
	}
	c, _ := cause.Find(a.Losses[0].Key)
	if c.ID != cause.FailedCapacity && (c.ID != cause.Retransmission || 2*r.Summary.DropsDown < r.Summary.Drops) {
		return nil
	}
	a.Failure, err = r.failurePicture()
	return err
}
