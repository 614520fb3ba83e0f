package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/inside"
	"railyard/internal/model"
	"railyard/internal/site"
	"railyard/internal/swconf/sonic"
)

// Every model that scenarios can name is listed. The number of sourced figures equals that on the individual pages.
func TestModels(t *testing.T) {
	code, out, _ := call(t, "models")
	if code != 0 {
		t.Fatal(out)
	}
	names := append(append(site.ModelNames(), site.ServerNames()...), model.GPUNames()...)
	names = append(append(names, sonic.HwSKUs()...), inside.BoardNames()...)
	figures, sourced := 0, 0
	for _, name := range names {
		if !strings.Contains(out, "\n"+name+" ") {
			t.Errorf("%s is not listed", name)
		}
		_, page, _ := call(t, "models", name, "--json")
		var m struct {
			Figures []struct{ Source *struct{ In string } }
		}
		if err := json.Unmarshal([]byte(page), &m); err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Figures {
			if figures++; f.Source != nil {
				sourced++
			}
		}
	}
	said, all := 0, 0
	heads := regexp.MustCompile(`(\d+) of (\d+) figures with a source`)
	for _, head := range heads.FindAllStringSubmatch(out, -1) {
		var s, a int
		fmt.Sscan(head[1], &s)
		fmt.Sscan(head[2], &a)
		said, all = said+s, all+a
	}
	if said != sourced || all != figures || said == 0 {
		t.Errorf("the list counts %d of %d, its pages have %d of %d", said, all, sourced, figures)
	}
	if _, page, _ := call(t, "models", "SN5600"); !strings.Contains(page, "largest pool") {
		t.Error(page)
	}
	code, _, says := call(t, "models", "sn560")
	if code != 2 || !strings.Contains(says, `did you mean "sn5600"?`) {
		t.Errorf("%d %s", code, says)
	}
}
