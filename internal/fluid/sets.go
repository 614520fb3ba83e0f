package fluid

import (
	"encoding/binary"
	"slices"
)

// Sets numbers sets of links over which one flow spreads, such as the ports among which packets are sprayed. Equal
// sets become one link. The zero value has none.
type Sets map[string]int32

// Of returns the link of a set; of a single link, that link. add creates the link of a new set from its ordered
// links, and returns its number.
func (s *Sets) Of(links []int32, add func(sorted []int32) int32) int32 {
	if len(links) == 1 {
		return links[0]
	}
	links = slices.Sorted(slices.Values(links))
	key := make([]byte, 0, 4*len(links))
	for _, l := range links {
		key = binary.LittleEndian.AppendUint32(key, uint32(l))
	}
	at, ok := (*s)[string(key)]
	if !ok {
		if at = add(links); *s == nil {
			*s = Sets{}
		}
		(*s)[string(key)] = at
	}
	return at
}
