package site

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Server is a server as described by its maker or provider: GPUs, and their network cards. The links of its GPUs are a
// property of the GPUs.
type Server struct {
	Key, Name  string
	GPU        string
	GPUs, NICs int
	Domain     int  `json:"nvlink_domain"` // GPUs of the rack that share NVLink; 0: those of the server
	NICRate    rate `json:"nic_rate"`
}

// rate is one as scenarios write it.
type rate unit.Rate

func (r *rate) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	v, err := unit.ParseRate(s)
	*r = rate(v)
	return err
}

//go:embed servers.json
var serverData []byte

// Sharing returns how many GPUs share NVLink where all domains of a number of servers are to be equal: those of a
// server, or of as many servers as a rack's domain has at most.
func (s *Server) Sharing(servers int) int {
	n := max(1, s.Domain/s.GPUs)
	for servers%n != 0 {
		n--
	}
	return n * s.GPUs
}

// FindServer returns the server of a key, nil if it is unknown.
func FindServer(key string) *Server {
	key = strings.ToLower(key)
	if i := slices.IndexFunc(servers, func(s Server) bool { return s.Key == key }); i >= 0 {
		return &servers[i]
	}
	return nil
}

// ServerNames lists the keys.
func ServerNames() (names []string) {
	for _, s := range servers {
		names = append(names, s.Key)
	}
	slices.Sort(names)
	return names
}

// equip sets the properties of a type's model, if that is a server.
func (t *Type) equip(key string) error {
	s := FindServer(t.Model)
	if s == nil {
		return nil
	}
	if t.Machine != nil {
		return field.New(key+".topology", "sets the internal topology, as the model %s does: set one of them", s.Key)
	}
	if !t.NoGPUs {
		fill(&t.GPU, s.GPU)
		fill(&t.GPUs, s.GPUs)
	}
	fill(&t.NICs, s.NICs)
	fill(&t.NICRate, unit.Rate(s.NICRate))
	return nil
}

// others are names in inventories besides a model's key. A switch of a Nexus is also called by its number alone, one of
// NVIDIA's with Mellanox' M before it.
var others = map[string][]string{
	"n9k-c9332d-gx2b": {"9332d-gx2b"}, "n9k-c9364d-gx2a": {"9364d-gx2a"}, "n9k-c9348d-gx2a": {"9348d-gx2a"},
	"7060x5-64s": {"7060dx5-64s", "7060px5-64s", "7060dx5-64", "7060px5-64"},
	"sn3700":     {"msn3700"}, "sn4700": {"msn4700"}, "qm9700": {"mqm9700"},
	"jericho3-ai": {"bcm88890"}, "tomahawk3": {"bcm56980"}, "tomahawk4": {"bcm56990"},
	"tomahawk5": {"bcm78900"}, "tomahawk6": {"bcm78910"},
	"nd-h100-v5": {"nd96isr_h100_v5"}, "p5.48xlarge": {"p5-48xlarge"},
}

// Called finds the switch model of an inventory's name: Nexus 9332D-GX2B, DCS-7060X6-64PE-F, Q3400-RA, MSN4700-WS2RO;
// "" if unknown.
func Called(text string) string { return called(text, ModelNames()) }

// ServerCalled finds the server model of an inventory's name, nil if unknown.
func ServerCalled(text string) *Server { return FindServer(called(text, ServerNames())) }

// called finds the key all of whose parts a name contains in order, with only a variant's letters before or after them;
// of several the longest.
func called(text string, keys []string) (best string) {
	long := 0
	for _, key := range keys {
		for _, name := range append(others[key], key) {
			if len(name) > long && partsOf(name).MatchString(text) {
				best, long = key, len(name)
			}
		}
	}
	return best
}

// partsOf matches names that contain the parts of one, with any separators.
func partsOf(name string) *regexp.Regexp {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. ", r) })
	return regexp.MustCompile(`(?i)(^|[^0-9a-z])` + strings.Join(parts, `[-_. ]?`) + `($|[^0-9])`)
}
