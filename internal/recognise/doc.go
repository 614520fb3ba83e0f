// Package recognise finds a short description of a list of cables: groups of nodes by name, types by their ports, and
// rules for all cables of one pattern.
//
// [Recognise] takes a cabling.Cabling and returns [Found]: a site description with notes on assumptions. Cables
// that fit no pattern become rules between named nodes. The description is built again and compared with the list
// before it is returned, so that it always gives the same graph; a rule never adds a cable that the list lacks.
// Port numbers are assigned anew and a note counts the unchanged ones.
package recognise
