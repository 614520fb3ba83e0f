package jobscript

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
)

// kind is the kind of a flag's value.
type kind uint8

const (
	number kind = iota // an integer
	word
	toggle // nothing, or true and false
)

// flag is a setting of a training, under its names in Megatron-LM, NeMo, DeepSpeed, Hugging Face's Trainer and others:
// without leading hyphens, with _ for -, and without the part up to the last dot.
type flag struct {
	key   string
	kind  kind
	names string
}

var flags = []flag{
	{"layers", number, "num_layers num_hidden_layers n_layers n_layer"},
	{"hidden", number, "hidden_size hidden_width n_embd d_model"},
	{"heads", number, "num_attention_heads num_heads n_heads n_head"},
	{"kv", number, "num_query_groups num_key_value_heads n_kv_heads"},
	{"gqa", toggle, "group_query_attention"},
	{"ffn", number, "ffn_hidden_size intermediate_size llama_intermediate_size"},
	{"head dim", number, "kv_channels head_dim"},
	{"vocab", number, "vocab_size padded_vocab_size pad_vocab_size_to"},
	{"divisible", number, "make_vocab_size_divisible_by"},
	{"swiglu", toggle, "swiglu"},
	{"norm", word, "normalization"},
	{"untied", toggle, "untie_embeddings_and_output_weights"},
	{"rope", word, "position_embedding_type"},
	{"experts", number, "num_experts num_local_experts num_moe_experts"},
	{"top k", number, "moe_router_topk num_experts_per_tok moe_top_k"},
	{"expert ffn", number, "moe_ffn_hidden_size moe_intermediate_size"},
	{"expert layers", word, "moe_layer_freq"},
	{"shared experts", number, "moe_shared_expert_intermediate_size"},
	{"latent", toggle, "multi_latent_attention"},
	{"model", word, "model_name_or_path model_name pretrained_model_name_or_path model_id model model_path base_model"},
	{"flavor", word, "flavor"},
	{"overrides", word, "config_overrides"},
	{"type", word, "model_type"},
	{"name", word, "name"},
	{"sequence", number, "seq_length encoder_seq_length seq_len max_seq_length max_seq_len max_length block_size max_context_width sequence_length model_max_length cutoff_len sequence_len max_sequence_length"},
	{"positions", number, "max_position_embeddings n_positions"},
	{"micro", number, "micro_batch_size per_device_train_batch_size train_micro_batch_size_per_gpu mbs local_batch_size device_train_microbatch_size"},
	{"local", number, "train_batch_size batch_size per_gpu_train_batch_size"},
	{"global", number, "global_batch_size gbs total_batch_size global_train_batch_size"},
	{"accumulation", number, "gradient_accumulation_steps accumulate_grad_batches grad_accum batch_accumulation_per_replica"},
	{"tp", number, "tensor_model_parallel_size tensor_parallel_size tensor_parallel_degree tp_size tp model_parallel_size"},
	{"pp", number, "pipeline_model_parallel_size pipeline_parallel_size pipeline_parallel_degree pipe_parallel_size pp_size pp"},
	{"cp", number, "context_parallel_size context_parallel_degree cp_size cp"},
	{"ep", number, "expert_model_parallel_size expert_parallel_size expert_parallel_degree ep_size ep"},
	{"dp", number, "data_parallel_size dp_size dp"},
	{"shards", word, "data_parallel_shard_degree"},
	{"replicated", number, "data_parallel_replicate_degree"},
	{"vpp", number, "virtual_pipeline_model_parallel_size num_virtual_stages_per_pipeline_rank"},
	{"chunk", number, "num_layers_per_virtual_pipeline_stage"},
	{"sp", toggle, "sequence_parallel"},
	{"order", toggle, "use_tp_pp_dp_mapping"},
	{"zero", number, "zero_stage zero_optimization_stage stage"},
	{"distributed optimizer", toggle, "use_distributed_optimizer"},
	{"optimizer", word, "optim_name"},
	{"fsdp", word, "fsdp fsdp_sharding_strategy sharding_strategy data_parallel_sharding_strategy"},
	{"fsdp2", toggle, "use_torch_fsdp2 use_megatron_fsdp use_custom_fsdp use_fsdp"},
	{"overlap", toggle, "overlap_grad_reduce overlap_grad_sync overlap_comm"},
	{"gather ahead", toggle, "overlap_param_gather overlap_param_sync"},
	{"bucket", number, "ddp_bucket_size reduce_bucket_size"},
	{"no tp overlap", toggle, "no_async_tensor_model_parallel_allreduce"},
	{"grads 16", toggle, "grad_reduce_in_bf16"},
	{"grads 32", toggle, "accumulate_allreduce_grads_in_fp32"},
	{"bf16", toggle, "bf16"},
	{"fp16", toggle, "fp16"},
	{"fp8", word, "fp8_format fp8"},
	{"fp8 on", toggle, "fp8_hybrid fp8_e4m3"},
	{"fp8 recipe", word, "fp8_recipe"},
	{"fp4", word, "fp4_format fp4"},
	{"recompute selective", toggle, "recompute_activations"},
	{"recompute", word, "recompute_granularity activations_checkpoint_granularity"},
	{"recompute full", toggle, "checkpoint_activations gradient_checkpointing activation_checkpointing deepspeed_activation_checkpointing"},
	{"attention", word, "attention_backend attn_implementation"},
	{"flash", toggle, "use_flash_attn use_flash_attention use_flash_attention_2 flash_attn use_flash_attn_v2"},
	{"layers by", word, "transformer_impl"},
	{"recompute method", word, "activations_checkpoint_method recompute_method"},
	{"deepspeed", word, "deepspeed_config deepspeed_config_file deepspeed"},
	{"config", word, "config config_file yaml_cfg config_name config_name_or_path conf"},
	{"nodes", number, "num_nodes"},
}

// remade is torchtitan's key for recomputation: none, selective, full.
const remade = "activation_checkpoint.mode"

// byName finds a flag.
var byName = func() map[string]*flag {
	m := map[string]*flag{}
	for i := range flags {
		for _, n := range strings.Fields(flags[i].names) {
			m[n] = &flags[i]
		}
	}
	return m
}()

// Value is the value of a flag or of a file's key.
type Value struct {
	Text string
	Name string // name as written
	At   slurm.Place
}

// Said contains the settings of a training, and the unused ones.
type Said struct {
	vals  map[string]Value
	given *Shape
	Left  []Value // irrelevant, or unknown
	Notes []slurm.Note
}

func newSaid() *Said { return &Said{vals: map[string]Value{}} }

func (s *Said) note(at slurm.Place, text string) {
	if len(s.Notes) < maxNotes {
		s.Notes = append(s.Notes, slurm.Note{At: at, Text: text})
	}
}

// off are the words for false.
func off(v string) bool {
	return slices.Contains([]string{"false", "False", "FALSE", "0", "no", "null", "None", "none", "off"}, v)
}

// boolean reports whether a word is an answer to yes or no.
func boolean(v string) bool {
	return off(v) || slices.Contains([]string{"true", "True", "TRUE", "1", "yes", "on"}, v)
}

// set stores a value, the last one of each key; uncertain ones are reported and omitted.
func (s *Said) set(f *flag, v Value) error {
	if vague(v.Text) || strings.Contains(v.Text, each) {
		s.note(v.At, v.Name+" is "+slurm.Open(v.Text)+", which is unknown: left out (--env NAME=VALUE sets a variable)")
		return nil
	}
	switch f.kind {
	case number:
		text := strings.ReplaceAll(v.Text, "_", "")
		if x, err := strconv.ParseFloat(text, 64); err == nil && x == float64(int64(x)) && x < 1e15 {
			text = strconv.FormatInt(int64(x), 10) // 5e8
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			if off(v.Text) || v.Text == "auto" {
				return nil
			}
			return v.At.Fail(v.Name, "found %s, expected a whole number", field.Quote(v.Text))
		}
		v.Text = strconv.FormatInt(n, 10)
	case toggle:
		if off(v.Text) {
			delete(s.vals, f.key)
			return nil
		}
	}
	s.vals[f.key] = v
	return nil
}

// num returns a number that was set, or 0.
func (s *Said) num(key string) int64 {
	n, _ := strconv.ParseInt(s.vals[key].Text, 10, 64)
	return n
}

// has reports whether a setting exists.
func (s *Said) has(key string) bool { _, ok := s.vals[key]; return ok }

// Flags reads the words after a program: --name value, --name=value, name=value with dots. The position of a word
// is the place where it is found in the script, or else that of its command.
func (s *Said) Flags(args []Arg, place func(Arg) slurm.Place) error {
	for i := 0; i < len(args); i++ {
		a := args[i]
		dashed := strings.HasPrefix(a.Text, "-")
		written, v, joined := strings.Cut(a.Text, "=")
		if !dashed && (!joined || strings.ContainsAny(written, "/ ")) {
			continue // a file, a command's name
		}
		name := plainName(written)
		next := ""
		if i+1 < len(args) {
			next = args[i+1].Text
		}
		free := next != "" && (!strings.HasPrefix(next, "-") || negative(next)) &&
			!(strings.Contains(next, "=") && !dashed)
		f, ok := byName[name]
		if !ok && strings.HasPrefix(written, "--") {
			if f = abbreviated(name); f != nil {
				ok = true
				s.note(place(a), written+" is read as --"+strings.ReplaceAll(begun(f, name), "_", "-")+
					", as Python's argparse accepts the beginning of a flag")
			}
		}
		switch {
		case strings.HasSuffix(written, "optim.name"):
			f, ok = &flag{key: "optimizer", kind: word}, true
		case strings.HasSuffix(written, remade):
			f, ok = byName["recompute_granularity"], true
		}
		switch {
		case !ok && !joined && free:
			v = next
			i++
		case ok && !joined && f.kind != toggle && free:
			v = next
			i++
		case ok && !joined && f.kind == toggle && boolean(next):
			v = next
			i++
		}
		x := Value{Text: v, Name: written, At: place(a)}
		if !ok {
			if err := misspelt(x, name); err != nil {
				return err
			}
			s.Left = append(s.Left, x)
			continue
		}
		if f.kind == number && v == "" {
			return x.At.Fail(written, "has no number after it")
		}
		if f.key == "overrides" {
			if err := s.overrides(x); err != nil {
				return err
			}
			continue
		}
		if err := s.set(f, x); err != nil {
			return err
		}
	}
	return nil
}

// overrides parses the values of a model's configuration after one flag, as in Hugging Face's run_clm.py:
// n_embd=8192,n_layer=64.
func (s *Said) overrides(v Value) error {
	for _, one := range strings.Split(v.Text, ",") {
		name, text, ok := strings.Cut(one, "=")
		x := Value{Text: text, Name: v.Name + " " + name, At: v.At}
		f := byName[plainName(name)]
		if !ok || f == nil || f.key == "overrides" {
			s.Left = append(s.Left, x)
			continue
		}
		if err := s.set(f, x); err != nil {
			return err
		}
	}
	return nil
}

// abbreviated returns the flag whose name a word abbreviates, if all matching flags have one meaning. A short word may
// be another program's own flag and does not count; for switches nearly the whole name is required.
func abbreviated(name string) (found *flag) {
	for i := range flags {
		f := &flags[i]
		n := begun(f, name)
		if n == "" {
			continue
		}
		long := f.kind == number && len(name) >= 11 && strings.Contains(name, "_")
		if near := len(n) >= 8 && len(n)-len(name) <= 1+min(len(n)/20, 1); !long && !near || found != nil {
			return nil
		}
		found = f
	}
	return found
}

// begun is the name of a flag that a word begins, or "".
func begun(f *flag, name string) string {
	for _, n := range strings.Fields(f.names) {
		if strings.HasPrefix(n, name) {
			return n
		}
	}
	return ""
}

// plainName is a flag's name as the table has it.
func plainName(written string) string {
	name := strings.TrimLeft(written[strings.LastIndexByte(written, '.')+1:], "-+~")
	return strings.ReplaceAll(name, "-", "_")
}

// negative reports whether a word is a number with a sign.
func negative(w string) bool {
	_, err := strconv.ParseFloat(w, 64)
	return err == nil
}

// misspelt refuses a flag that nearly equals a relevant one.
func misspelt(v Value, name string) error {
	for _, f := range flags {
		for _, n := range strings.Fields(f.names) {
			if edits := 1 + min(len(n)/20, 1); len(n) >= 8 && name != n && apart(name, n, edits) {
				e := v.At.Fail(v.Name, "is not a flag that is known, and nearly one that counts; accepted: --%s", strings.ReplaceAll(n, "_", "-"))
				return e
			}
		}
	}
	return nil
}

// apart reports whether two words differ by at most the given number of letters.
func apart(a, b string, most int) bool {
	if len(a) > len(b)+most || len(b) > len(a)+most {
		return false
	}
	return field.Distance(a, b) <= most
}
