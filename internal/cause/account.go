package cause

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Account divides a time among causes, in picoseconds. The sum of Own and Reaction is the time.
type Account struct {
	Own [Count]int64
	// Reaction is how long congestion control kept rates reduced because of a cause, by that cause. It is what
	// is shown as CC recovering, and saved with its cause.
	Reaction [Count]int64
}

// Of returns what is shown as a cause: for CC recovering all reactions, for others their own time.
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

// Saves returns what a run without a cause is expected to save: a trigger's own time and the reaction to it.
func (a *Account) Saves(id ID) int64 {
	if id == Recovering {
		return a.Of(id)
	}
	return a.Own[id] + a.Reaction[id]
}

// Together returns what a run without several causes is expected to save: a reaction counts once, with its trigger
// or with CC recovering.
func (a *Account) Together(ids ...ID) (sum int64) {
	var taken [Count]bool
	for _, id := range ids {
		taken[id] = true
	}
	for i := range a.Own {
		if taken[i] {
			sum += a.Own[i]
		}
		if taken[i] || taken[Recovering] {
			sum += a.Reaction[i]
		}
	}
	return sum
}

// Add adds another account.
func (a *Account) Add(b *Account) {
	for i := range a.Own {
		a.Own[i] += b.Own[i]
		a.Reaction[i] += b.Reaction[i]
	}
}

// Total returns the time that is divided.
func (a *Account) Total() (sum int64) {
	for i := range a.Own {
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

// Ranked returns the causes of time above line rate that an account has, largest saving first; CC recovering
// stands for reactions without a known trigger alone.
func (a *Account) Ranked() (ids []ID) {
	saves := func(id ID) int64 {
		if id == Recovering {
			return a.Own[id]
		}
		return a.Saves(id)
	}
	for i, c := range all {
		if c.Loss && saves(ID(i)) > 0 {
			ids = append(ids, ID(i))
		}
	}
	sort.SliceStable(ids, func(i, j int) bool { return saves(ids[i]) > saves(ids[j]) })
	return ids
}

// MarshalJSON writes an object with a number of picoseconds for each cause, "hash_collision_ps", in order, and for
// reactions "hash_collision_reaction_ps"; causes without any are left out.
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
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes; unknown names, of other versions, are passed over.
func (a *Account) UnmarshalJSON(text []byte) error {
	var m map[string]int64
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	*a = Account{}
	for name, ps := range m {
		key, isReaction := strings.CutSuffix(name, "_reaction_ps")
		if !isReaction {
			key = strings.TrimSuffix(name, "_ps")
		}
		c, ok := Find(key)
		switch {
		case !ok:
		case isReaction:
			a.Reaction[c.ID] = ps
		default:
			a.Own[c.ID] = ps
		}
	}
	for _, ps := range a.Reaction {
		a.Own[Recovering] -= ps
	}
	return nil
}
