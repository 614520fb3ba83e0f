package site

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Server is a server as its maker, or who rents it out, describes it: GPUs, and the network cards that are
// for them. How its GPUs are joined is theirs to say.
type Server struct {
	Key, Name  string
	GPU        string
	GPUs, NICs int
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

// serverOf is a server that is known.
func serverOf(key string) *Server {
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

// equip fills in what a type's model has, where that is a server.
func (t *Type) equip(key string) error {
	s := serverOf(t.Model)
	if s == nil {
		return nil
	}
	if t.Machine != nil {
		return field.New(key+".topology", "says what is inside, as the model %s does: give one of them", s.Key)
	}
	if !t.NoGPUs {
		fill(&t.GPU, s.GPU)
		fill(&t.GPUs, s.GPUs)
	}
	fill(&t.NICs, s.NICs)
	fill(&t.NICRate, unit.Rate(s.NICRate))
	return nil
}
