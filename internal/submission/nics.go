package submission

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/scenario"
	"railyard/unit"
)

// picked are the items of a list as NCCL takes it: those that it names, or behind ^ all but these. Without a
// name that is known nothing is said.
func picked(list string, all []string, alias map[string]string) (in []string) {
	rest, not := strings.CutPrefix(strings.ToLower(strings.TrimSpace(list)), "^")
	var named []string
	for _, w := range strings.Split(rest, ",") {
		w = strings.TrimSpace(w)
		if w = cmp.Or(alias[w], w); slices.Contains(all, w) {
			named = append(named, w)
		}
	}
	if named == nil {
		return nil
	}
	for _, a := range all {
		if slices.Contains(named, a) != not {
			in = append(in, a)
		}
	}
	return in
}

// otherRDMA are the beginnings of RDMA device names of drivers other than mlx5, and of names by bus and slot that
// rdma-core gives any device. A scenario does not have the names of NICs, so that such a list counts by its length.
var otherRDMA = []string{"mlx4_", "bnxt_re", "irdma", "i40iw", "cxgb4_", "qedr", "hfi1_", "efa_", "rdmap", "hns_", "erdma_",
	"ionic_", "mana_", "ocrdma", "rxe", "siw", "ib", "roce", "opap", "iw", "rdma"}

// errNoNIC is a list that matches no NIC.
var errNoNIC = errors.New("matches no NIC")

// usedNICs returns the number of a host's NICs that NCCL_IB_HCA leaves (NCCL's guide): mlx5 and mlx5_1 are beginnings
// of names, behind = they are whole ones, behind ^ those that are not used; :1 is a port. NICs are called mlx5_0 and
// so on; of other RDMA devices the number of names counts, and named is false. A list that matches nothing is errNoNIC.
func usedNICs(list string, nics int) (n int, named bool, err error) {
	rest, not := strings.CutPrefix(strings.TrimSpace(list), "^")
	rest, whole := strings.CutPrefix(rest, "=")
	used := make([]bool, nics)
	hits, names, others := 0, map[string]bool{}, 0
	for _, w := range strings.Split(rest, ",") {
		name, port, has := strings.Cut(strings.TrimSpace(w), ":")
		if name == "" || len(name) > 64 {
			return 0, false, fmt.Errorf("is not a list of names as mlx5_0,mlx5_1:1")
		}
		if n, err := strconv.Atoi(port); has && (err != nil || n < 0 || n > 255) {
			return 0, false, fmt.Errorf("the port of %s is not a number", name)
		}
		if !names[name] && slices.ContainsFunc(otherRDMA, func(p string) bool { return strings.HasPrefix(name, p) }) {
			others++
		}
		names[name] = true
		for i := range used {
			if nic := fmt.Sprint("mlx5_", i); nic == name || !whole && strings.HasPrefix(nic, name) {
				used[i] = true
			}
		}
	}
	for _, u := range used {
		if u != not {
			hits++
		}
	}
	switch {
	case hits > 0 && (not || slices.Contains(used, true)):
		return hits, true, nil
	case hits == 0 && not, others == 0:
		return 0, true, errNoNIC
	}
	return min(nics, others), false, nil
}

// onNICs returns a fabric whose hosts have as many NICs as NCCL may use: GPUs share those.
func (s *Submission) onNICs(text string, say told) (string, error) {
	if say.hca == "" {
		return text, nil
	}
	left := func(why string) (string, error) {
		s.noteNCCL("NCCL_IB_HCA", say.hca, why+": left out")
		return text, nil
	}
	doc, err := scenario.Parse("", []byte(text), nil)
	if err != nil {
		return text, nil // said where the scenario is resolved
	}
	nics, gpus := doc.File.Server.NICs, doc.File.Server.GPUs
	n, named, err := usedNICs(say.hca, nics)
	switch {
	case errors.Is(err, errNoNIC):
		return "", s.crew.Launch.At.Fail("NCCL_IB_HCA", "%s matches none of a host's %s; accepted: mlx5_0 to mlx5_%d, or the names of other RDMA devices (ib0, bnxt_re0), whose number counts", field.Quote(say.hca), unit.Plural(nics, "NIC"), nics-1)
	case err != nil:
		return left(err.Error())
	case n == nics:
		return text, nil
	case !scenario.HasBlock(text, "server"):
		return left(fmt.Sprintf("would leave %d NICs, and this scenario has no server.nics", n))
	case gpus%n != 0:
		return left(fmt.Sprintf("would leave %d NICs, which %d GPUs do not divide over", n, gpus))
	}
	counted := ""
	if !named {
		counted = ", by the number of names, because NICs are called mlx5_0 and so on"
	}
	s.noteNCCL("NCCL_IB_HCA", say.hca, fmt.Sprintf("%d of %d NICs are used%s; the fabric is simulated without the others", n,
		nics, counted))
	text, _ = scenario.SetKey(text, "server", "nics", strconv.Itoa(n))
	return text, nil
}
