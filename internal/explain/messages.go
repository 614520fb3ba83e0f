package explain

import (
	"cmp"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// maxMessageAccounts bounds the messages with an account in causes.parquet: those that lost most.
const maxMessageAccounts = 200

// messageAccount is a message's time by cause, without its wait for earlier messages of its queue pair.
type messageAccount struct {
	message int32
	lost    cause.Account
}

// messages returns the accounts of the messages that took longest beyond their ideal time.
func (b *blamer) messages(flows []result.FlowRow) (all []messageAccount) {
	if b.acc == nil || b.acc.undivided > 0 {
		return nil
	}
	lost := func(m *result.FlowRow) int64 { return m.Done - m.Posted - m.Ideal }
	var most []*result.FlowRow
	for i := range flows {
		if m := &flows[i]; m.Done >= 0 {
			most = append(most, m)
		}
	}
	slices.SortStableFunc(most, func(x, y *result.FlowRow) int { return cmp.Compare(lost(y), lost(x)) })
	for _, m := range most[:min(len(most), maxMessageAccounts)] {
		a := messageAccount{message: int32(m.Message)}
		b.lostBy(&a.lost, a.message)
		behind, _ := b.earlierOf(a.message)
		if a.lost.Total() == m.Done-m.Posted-behind {
			all = append(all, a)
		}
	}
	return all
}
