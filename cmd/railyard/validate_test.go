package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Groups that run at the same time are printed in the report's order. Groups omitted by --quick are named in the
// last line of the output and of the file.
func TestValidate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.md")
	var out, errs strings.Builder
	if code := Main([]string{"validate", "--quick", "UEC paths", "Megatron", "transport", "jobs", "--markdown", file},
		&out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	md, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const left = "Left out by --quick: UEC paths; large scenarios of Megatron\n"
	for _, text := range []string{out.String(), string(md)} {
		at := 0
		for _, want := range []string{"jobs\n", "transport\n", "Megatron\n", " agree, "} {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Errorf("%q is missing or out of order in\n%s", want, text)
				break
			}
			at += i
		}
		if !strings.HasSuffix(text, left) || strings.Contains(text, "packet by packet") {
			t.Errorf("the last line is not %q, or what it names is there:\n%s", left, text)
		}
	}
}

// TestValidatePublished: both halves of published trainings, the same twice.
func TestValidatePublished(t *testing.T) {
	code, out, errs := call(t, "validate", "published", "--json")
	if _, again, _ := call(t, "validate", "published", "--json"); code != 0 || again != out {
		t.Fatalf("exit %d, %s; the same twice: %v", code, errs, again == out)
	}
	checkOutput(t, []string{"validate", "published", "--json"}, out)
	if _, out, _ = call(t, "validate", "published"); !strings.Contains(out, "nemo dense bf16") {
		t.Error(out)
	}
}
