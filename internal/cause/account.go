package cause

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Account divides a time among causes, in picoseconds. The sum of Own and Reaction is the time.
type Account struct {
	Own [Max]int64
	// Reaction is the time that congestion control kept rates reduced because of a cause, by that cause. The sum is
	// shown as CC recovering, and saved with its cause.
	Reaction [Max]int64
	// Saving is the time that a run without only this cause is expected to save (Cause.Without): up to Costs, and
	// less if another cause takes equally long. What several causes save does not add up.
	Saving [Max]int64
	// Beyond is what more a run without the cause saves than the payload of the busiest NIC allows: not part of Saving.
	Beyond [Max]int64
}

// Saves returns what a run without a cause saves, whatever NICs need for their payload.
func (a *Account) Saves(id ID) int64 { return a.Saving[id] + a.Beyond[id] }

// Of returns the time shown for a cause: for CC recovering all reactions, for others their own time.
func (a *Account) Of(id ID) int64 {
	if id != Recovering {
		return a.Own[id]
	}
	sum := a.Own[id]
	for _, ps := range a.Reaction {
		sum += ps
	}
	return sum
}

// Costs returns a cause's own time and the reaction to it: for CC recovering, the part without a known trigger.
func (a *Account) Costs(id ID) int64 { return a.Own[id] + a.Reaction[id] }

// Expects reports whether an account has the savings of runs without its causes. Accounts of earlier versions have
// none.
func (a *Account) Expects() bool {
	for _, ps := range a.Saving {
		if ps != 0 {
			return true
		}
	}
	return false
}

// Add adds another account.
func (a *Account) Add(b *Account) {
	for i := range all {
		a.Own[i] += b.Own[i]
		a.Reaction[i] += b.Reaction[i]
		a.Saving[i] += b.Saving[i]
		a.Beyond[i] += b.Beyond[i]
	}
}

// Total returns the divided time.
func (a *Account) Total() (sum int64) {
	for i := range all {
		sum += a.Own[i] + a.Reaction[i]
	}
	return sum
}

// Lost returns the time above line rate.
func (a *Account) Lost() (sum int64) {
	for i, c := range all {
		if c.Loss {
			sum += a.Own[i]
		}
		sum += a.Reaction[i]
	}
	return sum
}

// Overlapped returns failed and slow links, and collisions, whose removal alone saves more than ten times their cost in
// addition to other causes. With those causes removed they hardly matter.
func (a *Account) Overlapped() (ids []ID) {
	for _, id := range []ID{FailedCapacity, SlowLink, Collision} {
		if a.Saves(id) > 10*a.Costs(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// MarshalJSON writes an object with a number of picoseconds for each cause, "hash_collision_ps", in order.
// Reactions have "hash_collision_reaction_ps", savings of runs without them "hash_collision_saving_ps", and what NICs do
// not allow of these "hash_collision_beyond_saving_ps". Causes without any are omitted.
func (a Account) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	put := func(name string, ps int64) {
		if ps == 0 {
			return
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%d", name, ps)
	}
	for i, c := range all {
		put(c.Key+"_ps", a.Of(ID(i)))
	}
	for i, c := range all {
		put(c.Key+"_reaction_ps", a.Reaction[i])
	}
	for i, c := range all {
		put(c.Key+"_saving_ps", a.Saving[i])
		put(c.Key+"_beyond_saving_ps", a.Beyond[i])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads MarshalJSON's output; unknown names, of other versions, are skipped.
func (a *Account) UnmarshalJSON(text []byte) error {
	var m map[string]int64
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	*a = Account{}
	for name, ps := range m {
		to, key := &a.Own, strings.TrimSuffix(name, "_ps")
		if own, ok := strings.CutSuffix(key, "_reaction"); ok {
			to, key = &a.Reaction, own
		} else if own, ok := strings.CutSuffix(key, "_beyond_saving"); ok {
			to, key = &a.Beyond, own
		} else if own, ok := strings.CutSuffix(key, "_saving"); ok {
			to, key = &a.Saving, own
		}
		if c, ok := Find(key); ok {
			to[c.ID] = ps
		}
	}
	for _, ps := range a.Reaction {
		a.Own[Recovering] -= ps
	}
	return nil
}
