package unit

import (
	"strconv"
	"strings"
)

// Plural is a number with its noun: 1 cable, 3 cables, 2 switches, 16,384 GPUs.
func Plural[T int | int32 | int64 | uint32 | uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch last := noun[len(noun)-1]; {
	case last == 's' || last == 'x' || strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "sh"):
		noun += "es"
	case last == 'y' && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		noun = noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "leaf"):
		noun = noun[:len(noun)-1] + "ves"
	default:
		noun += "s"
	}
	return grouped(strconv.FormatInt(int64(n), 10)) + " " + noun
}
