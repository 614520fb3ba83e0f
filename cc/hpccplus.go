package cc

import "railyard/unit"

// hpccPlus is HPCC++'s place in the registry (draft-miao-ccwg-hpcc). The draft's window is HPCC's, with
// any telemetry that says what INT does; beyond the paper it lets senders speed up the convergence to
// fairness, and names no mechanism for it. Ours are the two that were made for HPCC (Snyder and Lebeck,
// Fast Convergence to Fairness, IPDPS 2022): additive increase that grows with the queue that newcomers
// make, and windows that are cut every so many acknowledgements, of which those who send more get more,
// not only once per round trip. Their constants are the paper's as far as memory goes, for neither it nor
// its code could be had, as shares of the window there, about 50 KB: a cut after 30 acknowledgements of 1
// KB, tokens for a queue of a window's worth, one for each KB of it. No row of ours was used to choose
// them: with 0.5 and 0.5 for the first two fairness comes in three quarters of the time.
var hpccPlus = Algorithm{
	Name: "hpcc-plus", Title: "HPCC++", Params: append(hpccParams[:len(hpccParams):len(hpccParams)],
		Param{Name: "cut_after", Kind: Number, Min: "0.01", Max: "1000", Zero: true,
			Doc: "number of acknowledged base windows after which the reference falls, too; 0: once per round trip, as it rises"},
		Param{Name: "token_queue", Kind: Number, Min: "0.001", Max: "1000",
			Doc: "a longer queue, in base windows, earns tokens for a larger additive increase"},
		Param{Name: "token_size", Kind: Number, Min: "0.00001", Max: "1000",
			Doc: "so much of that queue earns one, in base windows"},
		Param{Name: "token_bank", Kind: Count, Min: "1", Max: "1000000", Doc: "most tokens kept"},
		Param{Name: "token_spend", Kind: Count, Min: "1", Max: "100000",
			Doc: "most tokens spent in a round trip: the additive increase that many times"},
		Param{Name: "dampener", Kind: Count, Min: "1", Max: "1000",
			Doc: "consecutive round trips with queues after which the budget is halved"}),
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
		s := hpccOf(v)
		number := func(name string) float64 { return Value[float64](v, name) }
		count := func(name string) float64 { return float64(Value[int](v, name)) }
		s.plus = &plusSettings{after: number("cut_after"), queue: number("token_queue"),
			size: number("token_size"), bank: count("token_bank"), spend: count("token_spend"),
			dampener: count("dampener")}
		return func(path Path) Controller { return &HPCCPlus{*newHPCC(&s, path)} }
	},
}

func hpccPlusValues(line unit.Rate) Values {
	v := hpccValues(line, 0, line/2000, line/10_000)
	for name, x := range (Values{"cut_after": 0.6, "token_queue": 1.0, "token_size": 0.02,
		"token_bank": 1000, "token_spend": 100, "dampener": 8}) {
		v[name] = x
	}
	return v
}

// plusSettings are the settings that HPCC++ adds.
type plusSettings struct {
	after, queue, size, bank, spend, dampener float64
}

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

// earn ends a round trip: its queue earns tokens, and the next one's additive increase spends some, the
// fewer the longer there have been queues.
func (h *HPCC) earn() {
	p, m := h.s.plus, &h.more
	if queue := m.queue / h.most; queue > p.queue {
		m.tokens = min(m.tokens+queue/p.size, p.bank)
		m.damp++
	} else if m.queue == 0 {
		m.damp = 0
	}
	m.spent = min(m.tokens, p.spend)
	m.tokens -= m.spent
	m.spent = max(1, m.spent/(1+m.damp/p.dampener))
	m.queue = 0
}

// quicker is react with HPCC++'s two mechanisms; over says that a round trip has passed.
func (h *HPCC) quicker(over bool, acked unit.Bytes) {
	if h.more.acked += float64(acked); over {
		h.earn()
	}
	step := h.step
	h.step *= max(1, h.more.spent)
	soon := h.s.plus.after > 0 && h.more.acked >= float64(h.s.plus.after*h.most)
	falls := h.load >= h.s.eta && (over || soon)
	h.react(over && h.load < h.s.eta || falls)
	if h.step = step; falls {
		h.more.acked = 0
	}
}
