package perftest

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"railyard/unit"
	"railyard/verbs"
)

// Setup is the set-up of a session, from one end: the calls for its first queue pair in order, by libibverbs'
// names, and the data that the two ends exchanged. The methods of a nil Setup do nothing.
type Setup struct {
	Steps []Step       `json:"steps"`
	Here  []verbs.Info `json:"here"`
	There []verbs.Info `json:"there"`

	at   time.Time
	seen map[string]bool // calls already listed
}

// Step is one call: its arguments or results, and its duration.
type Step struct {
	Call   string   `json:"call"`
	Says   []string `json:"says"`
	Micros float64  `json:"us"`
}

// begin starts the clock of the next step.
func (s *Setup) begin() {
	if s != nil {
		s.at = time.Now()
	}
}

// step ends one and begins the next; of calls that every queue pair needs, only the first is kept.
func (s *Setup) step(call string, says ...string) {
	now := time.Now()
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if !s.seen[call] {
		s.seen[call] = true
		s.Steps = append(s.Steps, Step{call, says, float64(now.Sub(s.at).Nanoseconds()) / 1e3})
	}
	s.at = time.Now()
}

func (s *Setup) domain() {
	if s != nil {
		s.step("ibv_alloc_pd", "protection domain", "its queue pairs reach its regions, and no others")
	}
}

func (s *Setup) completions(entries int) {
	if s != nil {
		s.step("ibv_create_cq", "completion queue", unit.Plural(entries, "entry"))
	}
}

func (s *Setup) region(mr *verbs.MR) {
	if s != nil {
		s.step("ibv_reg_mr", unit.Plural(mr.Length, "byte"), fmt.Sprintf("VA %#x", mr.Addr),
			fmt.Sprintf("lkey %#x", mr.LKey), fmt.Sprintf("rkey %#x", mr.RKey))
	}
}

func (s *Setup) pair(qp *verbs.QP, depth int) {
	if s != nil {
		s.step("ibv_create_qp", fmt.Sprintf("QPN %#x", qp.QPN), "state "+qp.Query().State.String(),
			"send queue of "+unit.Plural(depth, "request"))
	}
}

// exchanged records the exchange of queue pairs' numbers and keys, the only step that uses TCP.
func (s *Setup) exchanged(with netip.AddrPort, here, there []verbs.Info) {
	if s == nil {
		return
	}
	s.Here, s.There = here, there
	says := []string{fmt.Sprintf("with %v", with)}
	for _, i := range []*verbs.Info{&here[0], &there[0]} {
		verb := "sent"
		if i == &there[0] {
			verb = "received"
		}
		says = append(says, fmt.Sprintf("%s QPN %#x PSN %d", verb, i.QPN, i.PSN),
			fmt.Sprintf("VA %#x rkey %#x", i.VA, i.RKey))
	}
	s.step("exchange by TCP", says...)
}

// modified is one change of state.
func (s *Setup) modified(a verbs.QPAttr) {
	call := "ibv_modify_qp " + a.State.String()
	switch a.State {
	case verbs.Init:
		var may []string
		for _, r := range []struct {
			bit  verbs.Access
			name string
		}{{verbs.RemoteWrite, "WRITE"}, {verbs.RemoteRead, "READ"}, {verbs.RemoteAtomic, "atomics"}} {
			if a.Access&r.bit != 0 {
				may = append(may, r.name)
			}
		}
		s.step(call, "the peer may "+strings.Join(may, ", "))
	case verbs.RTR:
		s.step(call, "receives", fmt.Sprintf("from QPN %#x at %v", a.DestQPN, a.DestAddr),
			fmt.Sprintf("expects PSN %d", a.RQPSN), fmt.Sprintf("path MTU %d", a.PathMTU))
	case verbs.RTS:
		s.step(call, "sends", fmt.Sprintf("from PSN %d", a.SQPSN),
			fmt.Sprintf("local ACK timeout 4.096 us x 2^%d", a.Timeout),
			fmt.Sprintf("%d retries", a.RetryCount), fmt.Sprintf("%d READs at a time", a.MaxReads))
	}
}
