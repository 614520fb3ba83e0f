package swconf

import (
	"strconv"
	"strings"
)

// ASN reads an AS number, plain or as two halves with a dot (asplain and asdot, RFC 5396):
// NX-OS, EOS and FRR take either and print what they are set to.
func ASN(s string) (uint32, bool) {
	if hi, lo, ok := strings.Cut(s, "."); ok {
		h, err1 := strconv.ParseUint(hi, 10, 16)
		l, err2 := strconv.ParseUint(lo, 10, 16)
		if err1 != nil || err2 != nil {
			return 0, false
		}
		return uint32(h<<16 | l), h|l > 0
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, false // not the largest that there is
	}
	return uint32(n), n > 0
}

// takes reports whether a remote-as of own lets far be the neighbour's AS: a number, or FRR's
// external, internal and auto.
func takes(remote string, own, far uint32) bool {
	switch remote {
	case "external":
		return own != far
	case "internal":
		return own == far
	case "auto":
		return true
	}
	as, ok := ASN(remote)
	return ok && as == far
}
