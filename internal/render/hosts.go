package render

import (
	"slices"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/hostconf"
	"railyard/internal/scenario"
	"railyard/internal/swconf/design"
	"railyard/unit"
)

// hostMTU is what NICs are usually given where the switches take it.
const hostMTU = 9000

// frame is what Ethernet adds to an MTU: header and FCS.
const frame = 18

// Hosts returns the hosts' side of a plan's fabric, for NICs of a kind. values are the parameters of its DCQCN in
// place of the plan's; nil: the plan's.
func Hosts(p *scenario.Plan, kind string, values cc.Values) (files []design.File, notes []string, err error) {
	s := p.Default()
	if s.Carried != nil {
		return nil, nil, field.New("--nic", "%s is carried by NICs with tools of their own, which are not written",
			s.Carried.Title)
	}
	if len(p.Services) > 1 {
		notes = append(notes, "jobs have DSCPs or congestion control of their own: servers are written for the first")
	}
	if len(p.Graph.NICs) > 0 && len(p.Graph.NICs[0].Links) > 1 {
		notes = append(notes, "NICs have several ports: scripts name one network device for each (its bond)")
	}
	first := ""
	for host, node := range p.Graph.Hosts {
		w := wanted(p, host, kind, values)
		w.Host = p.Graph.Nodes[node].Name
		h, more, err := hostconf.Make(w)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range more {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
		texts := hostconf.Write(h)
		files = append(files, design.File{Path: "hosts/" + texts[0].Path, Text: texts[0].Text})
		switch env := texts[1]; {
		case first == "":
			first = env.Text
			files = append(files, design.File{Path: "hosts/nccl.conf", Text: env.Text})
		case env.Text != first:
			files = append(files, design.File{Path: "hosts/" + env.Path, Text: env.Text})
		}
	}
	return files, notes, nil
}

// wanted returns what a server should have.
func wanted(p *scenario.Plan, host int, kind string, values cc.Values) hostconf.Wanted {
	s := p.Default()
	w := hostconf.Wanted{Kind: kind, DSCP: s.DSCP, CNPDSCP: s.CNPDSCP,
		Prio: int(p.Spec.DSCP[s.DSCP]), CNPPrio: int(p.Spec.DSCP[s.CNPDSCP]),
		Lossless: p.Spec.LosslessMask(),
		MTU:      max(min(hostMTU, p.Spec.MTU-frame), unit.Bytes(p.RC.MTU)), QPs: p.QPs,
		Retries: p.RC.Retries,
		Timeout: p.Settled().Transport.Timeout, Split: true}
	for i := range p.Graph.NICs {
		if p.Graph.NICs[i].Host != host {
			continue
		}
		if w.NICs++; w.NICs == 1 && s.CC.Name == "dcqcn" {
			w.Params = s.Values
			if s.At != nil {
				w.Params = s.At(p.Line(i))
			}
		}
	}
	if values != nil {
		w.Params = values
	}
	return w
}
