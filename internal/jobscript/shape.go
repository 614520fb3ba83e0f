package jobscript

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/slurm"
)

// Shape returns the model of a training: a shipped one by its name, or the one of its config.json.
type Shape struct {
	Name   string        // name of a shipped model
	Config []byte        // else
	Parsed *model.Config // either
	At     slurm.Place
	Gated  bool
}

// Model returns the model named on the command line: a shipped one, or that of a config.json.
func (s *Said) Model(name string, config []byte) error {
	if name == "" {
		return nil
	}
	at := slurm.Place{File: "--model"}
	if config != nil {
		m, err := model.Parse(name, config)
		if err != nil {
			return err
		}
		s.given = &Shape{Config: config, Parsed: m, At: slurm.Place{File: name}, Gated: m.Gated()}
		return nil
	}
	m, err := model.Builtin(name)
	if err != nil {
		return field.Under("--model", err)
	}
	s.given = &Shape{Name: name, Parsed: m, At: at, Gated: m.Gated()}
	return nil
}

// shape finds the model that is meant, by its sizes or else by its name.
func (s *Said) shape() (*Shape, error) {
	if s.given != nil {
		return s.given, nil
	}
	if s.has("layers") || s.has("hidden") {
		return s.sized()
	}
	for _, key := range []string{"model", "name", "type"} {
		v, ok := s.vals[key]
		if !ok {
			continue
		}
		name := shipped(v.Text)
		if f, ok := s.vals["flavor"]; ok && name == "" { // torchtitan's: llama3 of the flavor 8B
			name = flavored(v.Text, f.Text)
		}
		if name != "" {
			m, err := model.Builtin(name)
			return &Shape{Name: name, Parsed: m, At: v.At}, err
		}
	}
	if v, ok := s.vals["model"]; ok {
		return nil, v.At.Fail(v.Name, "%q is not a model that ships with Railyard: --model PATH names its config.json; accepted: %s", v.Text, strings.Join(model.Names(), ", "))
	}
	return nil, nil
}

// flavored finds the shipped model of a family and a size; torchtitan's llama3 is Llama 3.1.
func flavored(family, size string) string {
	return shipped(strings.Replace(family, "llama3", "llama-3.1", 1) + "-" + size)
}

// shipped finds the shipped model for a name such as meta-llama/Llama-2-7b-hf.
func shipped(name string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	base := plain(strings.TrimPrefix(strings.ToLower(path.Base(name)), "meta-"))
	best := ""
	for _, n := range model.Names() {
		if p := plain(n); strings.HasPrefix(base, p) && len(p) > len(plain(best)) {
			best = n
		}
	}
	return best
}

// config is a config.json in the making.
type config struct {
	Type    string `json:"model_type"`
	Hidden  int64  `json:"hidden_size"`
	Layers  int64  `json:"num_hidden_layers"`
	Heads   int64  `json:"num_attention_heads"`
	KVHeads int64  `json:"num_key_value_heads"`
	FFN     int64  `json:"intermediate_size"`
	Vocab   int64  `json:"vocab_size"`
	Context int64  `json:"max_position_embeddings,omitempty"`
	HeadDim int64  `json:"head_dim,omitempty"`
	Experts int64  `json:"num_local_experts,omitempty"`
	TopK    int64  `json:"num_experts_per_tok,omitempty"`
	Tied    bool   `json:"tie_word_embeddings"`
}

// sized returns a model by its sizes. Unset sizes are derived as in Megatron-LM (its arguments.py).
func (s *Said) sized() (*Shape, error) {
	for _, need := range []string{"layers", "hidden", "heads"} {
		if s.num(need) == 0 {
			of, other := s.vals["layers"], s.vals["hidden"]
			if of.Name == "" {
				of = other
			}
			return nil, of.At.Fail(of.Name, "is set for the model, and not %s; needed are --num-layers, --hidden-size and --num-attention-heads", map[string]string{"layers": "how many layers it has",
				"hidden": "its hidden size", "heads": "how many heads it has"}[need])
		}
	}
	c := config{Hidden: s.num("hidden"), Layers: s.num("layers"), Heads: s.num("heads"), FFN: s.num("ffn"),
		KVHeads: s.num("kv"), HeadDim: s.num("head dim"), Experts: s.num("experts"), TopK: s.num("top k"),
		Context: max(s.num("positions"), s.num("sequence")), Tied: !s.has("untied")}
	if s.has("gqa") && c.KVHeads == 0 {
		c.KVHeads = 1 // Megatron's --num-query-groups unless given
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	kind := strings.ToLower(s.vals["type"].Text)
	named := slices.ContainsFunc([]string{"llama", "mistral", "mixtral", "qwen"}, func(n string) bool {
		return strings.HasPrefix(kind, n)
	})
	gated := s.has("swiglu") || named || c.Experts > 0 || c.KVHeads < c.Heads &&
		strings.EqualFold(s.vals["norm"].Text, "rmsnorm")
	switch {
	case strings.HasPrefix(kind, "mixtral") && c.Experts == 0:
		c.Experts, c.TopK = 8, 2 // Hugging Face's MixtralConfig
		s.note(s.vals["type"].At, "experts are assumed as MixtralConfig has them: 8, 2 for a token")
	case c.Experts > 0 && c.TopK == 0:
		c.TopK = 2 // Megatron's --moe-router-topk
	}
	if c.Experts > 0 && !s.has("swiglu") && !named {
		s.note(s.vals["experts"].At, "experts are taken to be gated (SwiGLU), as Mixtral's")
	}
	s.unlike(&c)
	c.Type = "gpt3"
	if gated {
		c.Type = "llama"
	}
	if c.Experts > 0 {
		c.Type = "mixtral"
	}
	if c.FFN == 0 {
		if c.FFN = 4 * c.Hidden; gated {
			c.FFN = 4 * c.Hidden * 2 / 3 / 64 * 64
		}
	}
	s.vocabulary(&c, gated)
	at := s.vals["layers"].At
	if name := s.known(&c); name != "" {
		m, err := model.Builtin(name)
		if err == nil && !s.has("vocab") {
			s.note(at, fmt.Sprintf("%s: %d of %s are assumed, whose sizes the model has", noVocabulary, m.Vocab, name))
		}
		return &Shape{Name: name, Parsed: m, At: at, Gated: gated}, err
	}
	if !s.has("vocab") {
		s.note(at, fmt.Sprintf("%s: %d are assumed", noVocabulary, c.Vocab))
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	m, err := model.Parse("the model of "+at.File, b)
	if err != nil {
		return nil, at.Fail(s.vals["layers"].Name, "the model that the flags describe cannot be: %v", err)
	}
	return &Shape{Config: b, Parsed: m, At: at, Gated: gated}, nil
}

// unlike takes the width of experts, and notes what makes the model another one than is counted.
func (s *Said) unlike(c *config) {
	say := func(key, what string) {
		if v := s.vals[key]; s.has(key) {
			s.note(v.At, strings.TrimSpace(v.Name+" "+field.Clip(v.Text))+": "+what)
		}
	}
	say("latent", "latent keys and values are not modelled: attention is counted as if it had full ones")
	if c.Experts == 0 {
		return
	}
	if n := s.num("expert ffn"); n > 0 {
		c.FFN = n
	}
	if s.vals["expert layers"].Text != "1" {
		say("expert layers", "all layers are counted as if they had experts")
	}
	say("shared experts", "experts that every token meets are not modelled, nor counted")
}

// noVocabulary begins notes about what is assumed without one.
const noVocabulary = "no flag sets the vocabulary size, which the tokenizer contains"

// vocabulary sets the size of the model's vocabulary, padded as Megatron does.
func (s *Said) vocabulary(c *config, gated bool) {
	c.Vocab = s.num("vocab")
	if c.Vocab == 0 {
		c.Vocab = 50257
		if gated {
			c.Vocab = 32000
		}
	}
}

// known is the shipped model that has the same sizes; vocabularies differ by their padding.
func (s *Said) known(c *config) string {
	for _, name := range model.Names() {
		m, err := model.Builtin(name)
		if err != nil {
			continue
		}
		near := !s.has("vocab") || c.Vocab >= m.Vocab && c.Vocab < m.Vocab+2048
		if near && m.Layers == c.Layers && m.Hidden == c.Hidden && m.Heads == c.Heads &&
			m.KVHeads == c.KVHeads && m.FFN == c.FFN && m.Experts == c.Experts && m.TopK == c.TopK {
			return name
		}
	}
	return ""
}
