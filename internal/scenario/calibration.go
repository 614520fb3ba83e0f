package scenario

import (
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// Calibration contains measured properties of a cluster that are in no data sheet (railyard calibrate writes it).
// Its values are factors of the file's values and times added to them, so variants keep them.
type Calibration struct {
	Message unit.Time `yaml:"message" range:"0s,1ms" doc:"what a message between servers takes beyond the nic_latency of both ends"`
	NICs    float64   `yaml:"nic_share" range:"0|1,100" doc:"percent of a NIC's line rate that GPUs get through it; 0: all that headers leave"`
	NVLink  float64   `yaml:"nvlink_share" range:"0|1,200" doc:"percent of server.nvlink that kernels reach, whose default is what NCCL counts on; 0: all of it"`
	Launch  unit.Time `yaml:"launch" range:"0s,100ms" doc:"what a collective takes at each rank before its first transfer"`
	Step    unit.Time `yaml:"step" range:"0s,10ms" doc:"what each transfer of a collective inside a server takes before it starts, beyond its protocol's"`
	Remote  unit.Time `yaml:"network_step" range:"0s,10ms" doc:"what each transfer of a collective between servers takes before it starts, beyond its protocol's"`
	Compute float64   `yaml:"compute_share" range:"0|1,500" doc:"percent of workload.training.efficiency that kernels reach; 0: all of it"`

	CNPDelay    unit.Time `yaml:"cnp_delay" range:"0s,1ms" doc:"what a receiving NIC takes from a marked packet to its CNP, beyond cc.dcqcn.cnp_delay"`
	CNPInterval unit.Time `yaml:"cnp_interval" range:"0|1ns,1s" doc:"minimum interval of a receiving NIC between CNPs of a flow, instead of the profile's of cc.dcqcn; 0: not measured"`
}

// percent is a share as a factor.
func percent(share float64) float64 {
	if share == 0 {
		return 1
	}
	return share / 100
}

// calibrated applies the calibration of NICs.
func (p *resolver) calibrated() error {
	c := p.File.Calibration
	if c == nil {
		return nil
	}
	p.NICs.Latency += c.Message / 2
	if c.NICs == 0 {
		return nil
	}
	g := p.Graph
	var rate unit.Rate
	for i, n := range g.NICs {
		all := unit.Rate(0)
		for _, l := range n.Links {
			all += g.Links[l].Rate
		}
		if i > 0 && all != rate {
			return field.New("calibration.nic_share", "is one share for all NICs, and these differ: %v and %v",
				rate, all)
		}
		rate = all
	}
	if most := unit.Rate(float64(rate)*percent(c.NICs) + 0.5); p.NICs.PCIe == 0 || most < p.NICs.PCIe {
		p.NICs.PCIe = most
	}
	return nil
}

// kernels applies the calibration of NVLink.
func (c *Calibration) kernels(k *Kind) {
	if c == nil || c.NVLink == 0 {
		return
	}
	k.share = percent(c.NVLink)
	k.NVLink = unit.Rate(float64(k.NVLink)*k.share + 0.5)
	k.Pair = unit.Rate(float64(k.Pair)*k.share + 0.5)
}

// delayed adds the library's time to a job's collectives.
func (p *resolver) delayed(job workload.Job, err error) (workload.Job, error) {
	c := p.File.Calibration
	if c == nil || err != nil {
		return job, err
	}
	job.DAG, err = job.DAG.Delayed(workload.Overhead{Launch: c.Launch, Local: c.Step, Remote: c.Remote},
		func(a, b int) bool { return p.Graph.Together(job.GPU(int32(a)), job.GPU(int32(b))) })
	return job, field.Under("calibration", err)
}

// Instead replaces the workload of a document by one job, on the GPUs that the job names.
func (d *Document) Instead(w Workload, on []string) {
	d.File.Workload, d.File.Jobs = Workload{}, nil
	for key := range d.b.where {
		if key == "workload" || key == "jobs" {
			delete(d.b.where, key)
		}
	}
	d.Sets = slices.DeleteFunc(slices.Clone(d.Sets), func(s string) bool {
		return strings.HasPrefix(s, "workload") || strings.HasPrefix(s, "jobs")
	})
	d.File.Jobs = []Job{{Name: "measured", On: on, Workload: w}}
}

// Parameters of algorithms with CNPs that a calibration overrides.
const cnpDelay, cnpInterval = "cnp_delay", "cnp_interval"

// notified applies the calibration of receivers' CNPs to a service whose profile has these parameters.
func (p *resolver) notified(s *Service, profile cc.Values) error {
	c := p.File.Calibration
	if c == nil || s.CC.CNPGap == nil {
		return nil
	}
	if c.CNPInterval > 0 {
		said := s.Values[cnpInterval]
		if said != profile[cnpInterval] && said != c.CNPInterval {
			return field.New("calibration."+cnpInterval, "is %v, and cc.%s.%s is %v: leave one of them out", c.CNPInterval, s.CC.Name, cnpInterval, said)
		}
		s.Values[cnpInterval] = c.CNPInterval
	}
	s.Values[cnpDelay] = cc.Value[unit.Time](s.Values, cnpDelay) + c.CNPDelay
	return nil
}

// unheard notes that a calibration of CNPs has no effect if no receiver sends any.
func (p *resolver) unheard() {
	c := p.File.Calibration
	sends := func(s Service) bool { return s.CC.CNPGap != nil && s.Carried == nil }
	if c != nil && c.CNPDelay+c.CNPInterval > 0 && !slices.ContainsFunc(p.Services, sends) {
		p.note("calibration.%s and %s change nothing: no receiver sends CNPs", cnpDelay, cnpInterval)
	}
}
