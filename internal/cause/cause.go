// Package cause is the registry of causes of lost time in messages, collectives and training steps, and the account
// that divides their time among these causes.
//
// A cause is one file: its name from the glossary, its meaning, its colour, its remedies (remedies.go's Remedy) and
// the variant of the run without it (Without). Package explain fills an Account. Text, page, plots, Parquet and
// comparisons read it and do not name causes themselves.
//
//	var a cause.Account
//	a.Own[cause.Incast] += int64(3 * unit.Millisecond)
//	for _, c := range cause.All() { fmt.Println(c.Name, a.Of(c.ID)) }
package cause

import "railyard/unit"

// ID numbers a cause; columns, bars and legends have its order.
type ID uint8

// The causes. Compute and LineRate are no loss.
const (
	Compute ID = iota
	LineRate
	Latency
	Recovering
	Window
	Credit
	Collision
	SprayImbalance
	Oversubscription
	FailedCapacity
	SlowLink
	Incast
	Pause
	Retransmission
	Reordering
	ReorderMemory
	Trimmed
	SharedNIC
	StorageMedia
	StorageNIC
	OnePort
	PCIe
	HostCores
	LateRank
	SlowRank
	builtIn int = iota
)

// Room is the most causes that extensions add; Max, the length of arrays by cause, has a place for each of these.
const (
	Room = 8
	Max  = builtIn + Room
)

// Cause describes one cause.
type Cause struct {
	ID    ID
	Key   string // key in summary.json (with _ps), and in causes.parquet
	Name  string // glossary noun
	About string // description in one sentence
	Color string // #rrggbb, of the page and of plots; distinguishable with any colour vision
	Loss  bool   // time above line rate: neither computing nor the bytes themselves
	// Trigger reports whether the cause makes congestion control reduce rates. The reaction is then counted with
	// the cause.
	Trigger bool
	// Wide describes the run without the cause where that is without others too, and saves more than the cause costs;
	// "": it is without this cause alone.
	Wide string
	// Lasting reports whether no run is without the cause: it is of the job's own transfers and ranks.
	Lasting bool
	// Without returns the variant of a run without the cause, from the facts of the run.
	Without func(f *Facts) Change
	// Remedies lists changes for an operator, the most promising first.
	Remedies func(f *Facts) []Change
	// Advice is the remedy if no listed one and no setting of a scenario applies: an imperative.
	Advice string
	// Crossing marks Advice about NICs, links or switches: it does not apply if no packet crosses one.
	Crossing bool

	// For causes of extensions: Claim returns the time that a delivered message lost to it, and the hop of the
	// loss, -1 for none. The time is part of the time of From, a built-in cause. Evidence describes that; nil: the
	// name and the place.
	From     ID
	Claim    func(f *Facts, m *Message) (lost unit.Time, hop int)
	Evidence func(m *Message, hop int) string
}

// all lists the causes by ID, those of extensions last; each built-in one has its own file.
var all = []*Cause{&compute, &lineRate, &latency, &recovering, &window, &credit, &collision,
	&sprayImbalance, &oversubscription, &failedCapacity, &slowLink, &incast, &pause, &retransmission, &reordering,
	&reorderMemory, &trimmed, &sharedNIC, &storageMedia, &storageNIC, &onePort, &pcie, &hostCores, &lateRank, &slowRank}

// All returns the causes in order.
func All() []*Cause { return all }

// Get returns a cause's description.
func (id ID) Get() *Cause { return all[id] }

// Find returns the cause of a key.
func Find(key string) (*Cause, bool) {
	for _, c := range all {
		if c.Key == key {
			return c, true
		}
	}
	return nil, false
}
