package long

import (
	"flag"
	"os"
	"strconv"
)

// Draws sets how often a test binary draws for each property of pgregory.net/rapid, whose own default is 100:
// short usually, full when long tests run. RAPID_CHECKS and -rapid.checks go before. It returns the number:
//
//	var _ = long.Draws(40, 400)
func Draws(short, full int) int {
	n := N(short, full)
	f := flag.Lookup("rapid.checks")
	if f == nil || os.Getenv("RAPID_CHECKS") != "" || f.Value.Set(strconv.Itoa(n)) != nil {
		return 0
	}
	return n
}
