package submission

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/scenario"
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

// usedNICs is how many of a server's NICs NCCL_IB_HCA leaves (NCCL's guide): mlx5 and mlx5_1 are beginnings
// of names, behind = they are whole ones, behind ^ those that are not used; :1 is a port. NICs are mlx5_0 and
// so on here; where other names are listed, their number counts.
func usedNICs(list string, nics int) (int, error) {
	rest, not := strings.CutPrefix(strings.TrimSpace(list), "^")
	rest, whole := strings.CutPrefix(rest, "=")
	used := make([]bool, nics)
	hits, names := 0, map[string]bool{}
	for _, w := range strings.Split(rest, ",") {
		name, port, has := strings.Cut(strings.TrimSpace(w), ":")
		if name == "" || len(name) > 64 {
			return 0, fmt.Errorf("is not a list of names as mlx5_0,mlx5_1:1")
		}
		if n, err := strconv.Atoi(port); has && (err != nil || n < 0 || n > 255) {
			return 0, fmt.Errorf("the port of %s is not a number", name)
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
	if slices.Contains(used, true) || not {
		return hits, nil
	}
	return min(nics, len(names)), nil
}

// onNICs is a fabric whose servers have as many NICs as NCCL may use: GPUs share those.
func (s *Submission) onNICs(text string, say told) string {
	if say.hca == "" {
		return text
	}
	left := func(why string) string {
		s.noteNCCL("NCCL_IB_HCA", say.hca, why+": left out")
		return text
	}
	doc, err := scenario.Parse("", []byte(text), nil)
	if err != nil {
		return text // said where the scenario is resolved
	}
	nics, gpus := doc.File.Server.NICs, doc.File.Server.GPUs
	n, err := usedNICs(say.hca, nics)
	switch {
	case err != nil:
		return left(err.Error())
	case n == nics:
		return text
	case n == 0:
		return left("leaves none of a server's NICs")
	case !scenario.HasBlock(text, "server"):
		return left(fmt.Sprintf("would leave %d NICs, and this scenario has no server.nics", n))
	case gpus%n != 0:
		return left(fmt.Sprintf("would leave %d NICs, which %d GPUs do not divide over", n, gpus))
	}
	s.noteNCCL("NCCL_IB_HCA", say.hca, fmt.Sprintf("%d of %d NICs are used, the fabric is simulated without the others", n, nics))
	text, _ = scenario.SetKey(text, "server", "nics", strconv.Itoa(n))
	return text
}
