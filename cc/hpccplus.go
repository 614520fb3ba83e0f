package cc

import (
	"railyard/param"
	"railyard/unit"
)

// hpccPlus is HPCC++'s place in the registry (draft-miao-ccwg-hpcc). The draft's window is HPCC's. Its telemetry
// may have any format that reports what INT reports. It also lets senders speed up the convergence to fairness,
// without a defined mechanism. The two mechanisms here were made for HPCC (Snyder and Lebeck, Fast Convergence to
// Fairness, IPDPS 2022). The additive increase grows with the queue that new flows build. The window is reduced
// after every N acknowledgements, not only once per round trip, so faster senders are reduced more often. Their
// constants have no source, because neither the paper nor its code was available. They are shares of the paper's
// window of about 50 KB. A reduction follows 30 acknowledgements of 1 KB, and a queue of one window earns tokens,
// one per KB. They were not chosen by Railyard's measurements: with 0.5 and 0.5 for the first two, fairness is
// reached in three quarters of the time.
var hpccPlus = Algorithm{
	Name: "hpcc-plus", Title: "HPCC++", Params: hpccPlusTable.Params(),
	Sockets: "draft",
	Profiles: []Profile{{Name: "draft", Doc: "HPCC without steps that only add, and the constants of Fast Convergence to Fairness",
		Words: "HPCC++, in-band telemetry and faster fairness, at %v", Of: hpccPlusValues}},
	Signals: append(hpcc.Signals[:len(hpcc.Signals):len(hpcc.Signals)],
		Term{"tokens", "", "for a larger additive increase"}),
	Counters:  hpcc.Counters,
	Needs:     hpcc.Needs,
	Telemetry: hpccReports,
	Interval:  hpcc.Interval,
	New: func(v Values) Make {
		s := hpccPlusTable.Read(v)
		s.plus = &s.plusSettings
		return func(path Path) Controller { return &HPCCPlus{*newHPCC(&s.hpccSettings, path)} }
	},
}

func hpccPlusValues(line unit.Rate) Values {
	return hpccPlusTable.Values(hpccPlusSettings{hpccValues(line, 0, line/2000, line/10_000),
		plusSettings{After: 0.6, Queue: 1, Size: 0.02, Bank: 1000, Spend: 100, Dampener: 8}})
}

type hpccPlusSettings struct {
	hpccSettings
	plusSettings
}

// plusSettings are the additional settings of HPCC++.
type plusSettings struct {
	After    float64 `yaml:"cut_after" range:"0|0.01,1000" doc:"number of acknowledged base windows after which the reference falls, too; 0: once per round trip, as it rises"`
	Queue    float64 `yaml:"token_queue" range:"0.001,1000" doc:"a longer queue, in base windows, earns tokens for a larger additive increase"`
	Size     float64 `yaml:"token_size" range:"0.00001,1000" doc:"so much of that queue earns one, in base windows"`
	Bank     int     `yaml:"token_bank" range:"1,1000000" doc:"most tokens kept"`
	Spend    int     `yaml:"token_spend" range:"1,100000" doc:"most tokens spent in a round trip: the additive increase that many times"`
	Dampener int     `yaml:"dampener" range:"1,1000" doc:"consecutive round trips with queues after which the budget is halved"`
}

var hpccPlusTable = param.In[hpccPlusSettings]()

// plus is the state of one HPCC++ sender.
type plus struct {
	acked  float64 // bytes since the reference fell
	queue  float64 // longest that waited at a port in this round trip
	tokens float64
	damp   float64 // round trips in a row with queues
	spent  float64 // tokens for this round trip's increase
}

// HPCCPlus is HPCC's sender with faster convergence.
type HPCCPlus struct{ HPCC }

// Signal returns HPCC's and the tokens.
func (h *HPCCPlus) Signal(now unit.Time, name string) (float64, bool) {
	if name == "tokens" {
		return h.more.tokens, true
	}
	return h.HPCC.Signal(now, name)
}

// earn ends a round trip: its queue earns tokens, and the next additive increase spends some. It spends fewer the
// longer queues have lasted.
func (h *HPCC) earn() {
	p, m := h.s.plus, &h.more
	if queue := m.queue / h.most; queue > p.Queue {
		m.tokens = min(m.tokens+queue/p.Size, float64(p.Bank))
		m.damp++
	} else if m.queue == 0 {
		m.damp = 0
	}
	m.spent = min(m.tokens, float64(p.Spend))
	m.tokens -= m.spent
	m.spent = max(1, m.spent/(1+m.damp/float64(p.Dampener)))
	m.queue = 0
}

// quicker is react with HPCC++'s two mechanisms. over: a round trip has passed.
func (h *HPCC) quicker(over bool, acked unit.Bytes) {
	if h.more.acked += float64(acked); over {
		h.earn()
	}
	step := h.step
	h.step *= max(1, h.more.spent)
	soon := h.s.plus.After > 0 && h.more.acked >= float64(h.s.plus.After*h.most)
	falls := h.load >= h.s.Eta && (over || soon)
	h.react(over && h.load < h.s.Eta || falls)
	if h.step = step; falls {
		h.more.acked = 0
	}
}
