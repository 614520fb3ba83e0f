package launch

import (
	"strings"
	"testing"
)

// A rank needs a meeting address and the reverse, and contradictory options are rejected by name.
func TestSpecRefused(t *testing.T) {
	for _, name := range []string{"WORLD_SIZE", "RANK", "MASTER_ADDR", "SLURM_PROCID", "SLURM_NTASKS"} {
		t.Setenv(name, "")
	}
	two, one := 2, 1
	flags := func(change func(f *Flags)) *Flags {
		f := &Flags{World: &two, Bytes: "1KiB", Dtype: "float32", Redop: "sum", Iters: 1, QPs: 1,
			Timeout: 16, Wait: 1e9, Patience: 1e9}
		change(f)
		return f
	}
	for want, f := range map[string]*Flags{
		"":             flags(func(f *Flags) {}),
		"--rank":       flags(func(f *Flags) { f.Mine = &one }),
		"--rendezvous": flags(func(f *Flags) { f.Rendezvous = "127.0.0.1:1" }),
		"--bytes":      flags(func(f *Flags) { f.Bytes = "some" }),
		"--redop":      flags(func(f *Flags) { f.Redop = "mean" }),
		"--planes":     flags(func(f *Flags) { f.Planes = "127.0.0.1" }),
	} {
		s, err := f.Spec()
		if want == "" && (err != nil || s.World != 2 || s.Connect.Timeout != 16) {
			t.Errorf("%+v, %v", s, err)
		} else if want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
