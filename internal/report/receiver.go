package report

import (
	"fmt"
	"io"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// otherPaths are the causes that load balancing relieves, if paths with spare capacity exist.
var otherPaths = [...]cause.ID{cause.Collision, cause.SprayImbalance, cause.Oversubscription, cause.FailedCapacity,
	cause.SlowLink}

// receiver reports that the receiver's link limits the fastest variant if such a link limits all variants. It is
// busy for nearly the whole run, uplinks are not, and no cause that other paths relieve costs time.
func receiver(w io.Writer, first *result.Summary, variants []result.Variant) {
	for _, v := range variants {
		s := v.Runs[0]
		if len(s.Links.Hottest) == 0 || !s.Links.Hottest[0].ToHost || s.Links.Max < nearBound ||
			s.Links.Max <= 1.2*s.Links.UplinkMax || s.Chain == nil {
			return
		}
		for _, id := range otherPaths {
			if float64(s.Chain.Costs(id)) >= worthALine*float64(s.StepTime) {
				return
			}
		}
	}
	of, uplinks := &first.Links, ""
	if of.UplinkMax > 0 {
		uplinks = "; uplinks up to " + percent(of.UplinkMax)
	}
	Wrap(w, "", fmt.Sprintf("The limit is the receiver's link %s (%s%s): load balancing cannot relieve it.",
		of.Hottest[0].Name, percent(of.Max), uplinks))
}
