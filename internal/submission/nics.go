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

// picked returns the items of a list in NCCL's notation: the named ones, or after ^ all others. Without a known
// name there is no note.
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

// numbered are the beginnings of RDMA device names that end in a number, mlx5_0 or bnxt_re3, of all drivers. byBus
// match names by bus and slot, as rdma-core assigns them: rocep1s0. A scenario does not have the buses of NICs, so
// that a list of such names counts by its length.
var (
	numbered = []string{"mlx5_", bondFamily, "mlx4_", "bnxt_re", "irdma", "i40iw", "cxgb4_", "qedr", "hfi1_", "efa_",
		"hns_", "erdma_", "ionic_", "mana_", "ocrdma", "rxe", "siw", "ib", "roce", "iw"}
	byBus = []string{"rdmap", "rocep", "ibp", "opap", "iwp", "roceo", "ibo", "roces", "ibs"}
)

// bondFamily is the beginning of names that mlx5 gives bonds.
const bondFamily = "mlx5_bond_"

// errNoNIC is a list that matches no NIC.
var errNoNIC = errors.New("matches no NIC")

// errPort is a port that NICs do not have.
type errPort struct {
	name, port string
	ports      int
}

func (e errPort) Error() string {
	accepted := "1, because a NIC has one port, or its ports are bundled"
	if e.ports > 1 {
		accepted = fmt.Sprintf("1 to %d", e.ports)
	}
	return fmt.Sprintf("%s has no port %s; accepted: %s", field.Quote(e.name), field.Quote(e.port), accepted)
}

// hca is an entry of NCCL_IB_HCA.
type hca struct {
	name string
	port int // 0: any
}

// number returns the NIC number in a whole name, from 0; -1 if the name contains none.
func (h hca) number() int {
	for _, family := range numbered {
		digits, ok := strings.CutPrefix(h.name, family)
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && digits == strconv.Itoa(n) {
			return n
		}
	}
	return -1
}

// matches reports whether an entry is of a NIC, by its number: its name, or the beginning of it, in one of families.
func (h hca) matches(nic int, whole bool, families []string) bool {
	return slices.ContainsFunc(families, func(family string) bool {
		name := family + strconv.Itoa(nic)
		return name == h.name || !whole && strings.HasPrefix(name, h.name)
	})
}

// excluded returns the families of names that exclude a GPU's NIC. Others, such as mlx5_bond_0 beside mlx5_0, are
// of a host's front-end or storage network, or software: NICs have names of bonds only if each is one.
func excluded(bonded bool) []string {
	return slices.DeleteFunc(slices.Clone(numbered), func(family string) bool {
		return family == "rxe" || family == "siw" || bonded != (family == bondFamily)
	})
}

// slot reports whether a name is one by bus and slot.
func (h hca) slot() bool {
	return slices.ContainsFunc(byBus, func(p string) bool { return strings.HasPrefix(h.name, p) })
}

// hcas reads the entries of a list, each once.
func hcas(list string, ports int) (all []hca, err error) {
	for _, w := range strings.Split(list, ",") {
		name, port, has := strings.Cut(strings.TrimSpace(w), ":")
		if name == "" || len(name) > 64 {
			return nil, fmt.Errorf("is not a list of names as mlx5_0,mlx5_1:1")
		}
		entry := hca{name: name}
		if has {
			if entry.port, err = strconv.Atoi(port); err != nil || entry.port < 1 || entry.port > ports {
				return nil, errPort{name, port, ports}
			}
		}
		if !slices.Contains(all, entry) {
			all = append(all, entry)
		}
	}
	return all, nil
}

// usedNICs returns the names of a host's NICs that NCCL_IB_HCA selects, nic-3 for mlx5_2 and nic-3p2 for one of
// several ports, and a note on how names were read where that is ambiguous. By NCCL's guide (environment
// variables), mlx5 and mlx5_1 are prefixes of names; = makes them whole names; ^ excludes the matching ones; :1 is
// a port. A name behind ^ that is no NIC's excludes nothing. A list that leaves no NIC is errNoNIC.
func usedNICs(list string, nics, ports int, bonded bool) (names []string, how string, err error) {
	rest, not := strings.CutPrefix(strings.TrimSpace(list), "^")
	families := numbered
	if not {
		families = excluded(bonded)
	}
	rest, whole := strings.CutPrefix(rest, "=")
	all, err := hcas(rest, ports)
	if err != nil {
		return nil, "", err
	}
	used := make([]bool, nics*ports) // by port
	var missed []string
	beyond, slots := false, 0
	for _, h := range all {
		hit := false
		for i := range used {
			if h.matches(i/ports, whole, families) && (h.port == 0 || h.port == i%ports+1) {
				used[i], hit = true, true
			}
		}
		switch {
		case h.slot() && !not:
			slots++
		case !hit:
			missed = append(missed, h.name)
			beyond = beyond || h.number() >= nics
		}
	}
	switch {
	case slots > 0: // the first NICs, as many as names
		clear(used)
		how = ", by the number of names, because NICs by bus and slot are unknown"
		for i := range min(slots, nics) * ports {
			used[i] = true
		}
	case !not && !slices.Contains(used, true):
		return nil, "", errNoNIC
	case !not && beyond && len(all) <= nics: // hosts may have more NICs than the fabric connects
		clear(used)
		how = fmt.Sprintf(", by the number of names, because a host has no %s", strings.Join(missed, ", "))
		for i := range len(all) * ports {
			used[i] = true
		}
	case len(missed) > 0:
		how = fmt.Sprintf("; no NIC is %s", strings.Join(missed, ", "))
	}
	if names = nicNames(used, not, ports); names == nil {
		return nil, "", errNoNIC
	}
	return names, how, nil
}

// nicNames returns the names of NICs of which all ports are marked, or after ^ none, and of single ports.
func nicNames(marked []bool, not bool, ports int) (names []string) {
	for i := 0; i < len(marked); i += ports {
		of := marked[i : i+ports]
		if !slices.Contains(of, not) {
			names = append(names, fmt.Sprintf("nic-%d", i/ports+1))
			continue
		}
		for k, m := range of {
			if m != not {
				names = append(names, fmt.Sprintf("nic-%dp%d", i/ports+1, k+1))
			}
		}
	}
	return names
}

// cards returns how many of a host's NICs GPUs use, how many ports of each have an address of their own, and whether
// a NIC's ports are one bond.
func (s *Submission) cards() (nics, ports int, bonded bool) {
	g := s.cluster.graph
	if g == nil { // see scenarioOf
		return s.cluster.slurm.Nodes[s.alloc.Shares[0].Node].GPUs, 1, false
	}
	ports = 1
	for gpu := range g.TotalGPUs() {
		for way := range g.Ways(gpu) {
			n := &g.NICs[g.WayOf(gpu, way)]
			nics, ports = max(nics, n.Index+1), max(ports, n.Port)
			bonded = bonded || len(n.Links) > 1
		}
	}
	return nics, ports, bonded
}

// onNICs returns a fabric whose GPUs send by the NICs that NCCL may use.
func (s *Submission) onNICs(text string, say told) (string, error) {
	if say.hca == "" {
		return text, nil
	}
	const key = "NCCL_IB_HCA"
	nics, ports, bonded := s.cards()
	names, how, err := usedNICs(say.hca, nics, ports, bonded)
	switch {
	case errors.Is(err, errNoNIC):
		return "", s.crew.Launch.At.Fail(key, "%s matches none of a host's %s; accepted: mlx5_0 to mlx5_%d, or the names of other RDMA devices (ib0, bnxt_re0, rocep1s0)", field.Quote(say.hca), unit.Plural(nics, "NIC"), nics-1)
	case errors.As(err, new(errPort)):
		return "", s.crew.Launch.At.Fail(key, "%v", err)
	case err != nil:
		s.noteNCCL(key, say.hca, err.Error()+": left out")
		return text, nil
	case len(names) == nics && !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "p") }):
		if how != "" {
			s.noteNCCL(key, say.hca, fmt.Sprintf("all %d NICs are used%s", nics, how))
		}
		return text, nil
	}
	text, ok := scenario.SetKey(text, "server", "nics_used", "["+strings.Join(names, ", ")+"]")
	if !ok {
		return "", s.crew.Launch.At.Fail(key, "%s names NICs, and so does server.nics_used of the cluster: one of the two",
			field.Quote(say.hca))
	}
	if how == "" {
		how = "; mlx5_0 is nic-1"
	}
	s.noteNCCL(key, say.hca, fmt.Sprintf("GPUs send by %s of %s%s", strings.Join(names, ", "),
		unit.Plural(nics, "NIC"), how))
	return text, nil
}
