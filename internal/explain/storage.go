package explain

import (
	"cmp"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/inside"
	"railyard/unit"
)

// limitsMedia reports whether media of storage servers have a limit.
func (r *reading) limitsMedia() bool {
	return r.plan.Storage != nil && (r.plan.Storage.Read > 0 || r.plan.Storage.Write > 0)
}

// boundlessMedia returns the fabrics inside the servers, with media of storage servers that no network fills.
func (r *reading) boundlessMedia() []*inside.Fabric {
	all := slices.Clone(r.exec.Machine.Inside)
	rate := boundless * r.graph.Links[0].Rate
	media := inside.Media(rate, rate, r.plan.Storage.Latency)
	for store := range r.graph.Stores() {
		all[r.graph.DomainOf(r.graph.StoreHost(store))] = media
	}
	return all
}

// sharedIn is the cause of waits for other transfers inside the server of an end.
func (r *reading) sharedIn(end int) cause.ID {
	if r.graph.StoreOf(end) >= 0 {
		return cause.StorageMedia
	}
	return cause.SharedNIC
}

// sharedNIC is the cause of waits for other transfers of a connection's sender.
func (r *reading) sharedNIC(conn int32) cause.ID {
	if src, _ := r.seen.peers(conn); r.stores(src) {
		return cause.StorageNIC
	}
	return cause.SharedNIC
}

// stores reports whether a NIC is a storage server's.
func (r *reading) stores(nic int32) bool {
	for store := range r.graph.Stores() {
		if slices.Contains(r.graph.StoreNICs(store), int(nic)) {
			return true
		}
	}
	return false
}

// storageOf describes a cause at storage servers, with the busiest media or the NIC of the message that lost most.
func (b *blamer) storageOf(id cause.ID) string {
	s := id.Get().Name
	if id == cause.StorageMedia {
		return s + ": those of " + b.r.storage().Busiest + " are in use longest"
	}
	if b.worst >= 0 {
		if src, _ := b.r.seen.peers(b.r.seen.Messages[b.worst].Conn); b.r.stores(src) {
			s += ": other transfers of " + b.r.graph.NICName(int(src)) + " were served first"
		}
	}
	return s
}

// accesses are the reads or writes of storage of one name, which ranks do at the same time: together they fill media
// and NICs.
type accesses struct {
	ops   []int32
	spans [][2]unit.Time
}

func (a *accesses) add(ops []int32, from, to unit.Time) {
	a.ops, a.spans = append(a.ops, ops...), append(a.spans, [2]unit.Time{from, to})
}

// took returns the time in which at least one of them was under way.
func (a *accesses) took() (sum unit.Time) {
	slices.SortFunc(a.spans, func(x, y [2]unit.Time) int { return cmp.Compare(x[0], y[0]) })
	until := unit.Time(0)
	for _, s := range a.spans {
		sum += max(0, s[1]-max(s[0], until))
		until = max(until, s[1])
	}
	return sum
}
