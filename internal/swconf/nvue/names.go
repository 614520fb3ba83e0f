package nvue

// Names are the single interfaces of what stands in the place of one: swp1-4,swp6. Not ok is no such list.
func Names(list string) (names []string, ok bool) { return expand(list) }
