package screen

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown is a screen of a test.
type shown struct {
	strings.Builder
	layout Layout
}

func (s *shown) Layout() Layout { return s.layout }

// TestWrapping checks that lines fit the screen, that nothing is lost, that numbers keep their units, and that a
// file's lines are as long as their text.
func TestWrapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z→µ]{1,12}|[0-9]{1,3} (µs|%|GB/s|M),?`), 1, 60).Draw(t, "words")
		text := strings.Join(words, " ")
		s := &shown{layout: Layout{Width: rapid.IntRange(40, 120).Draw(t, "width")}}
		Labelled(s, "Remedy: ", text)
		var back []string
		for i, line := range strings.Split(strings.TrimSuffix(s.String(), "\n"), "\n") {
			if n := Width(line); n > s.layout.Width {
				t.Fatalf("%d columns: %q", n, line)
			}
			back = append(back, strings.TrimSpace(strings.TrimPrefix(line, "Remedy: ")))
			if begins := strings.HasPrefix(line, "Remedy: ") == (i == 0); !begins {
				t.Fatalf("line %d: %q", i, line)
			}
			if first := strings.TrimRight(strings.Fields(line)[0], ","); first == "µs" || first == "%" || first == "GB/s" {
				t.Fatalf("%q is parted from its number: %q", first, line)
			}
		}
		if got := strings.Join(back, " "); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		file := &shown{}
		if Labelled(file, "Remedy: ", text); file.String() != "Remedy: "+text+"\n" {
			t.Fatalf("a file has %q", file.String())
		}
	})
}

// TestTable checks alignment, columns that appear with width and contents, and a last column that wraps.
func TestTable(t *testing.T) {
	table := Table{Columns: []Column{{Head: "Link"}, {Head: "rate", Spare: true}, {Head: "ECN marks"},
		{Head: "paused", Rare: true}, {Head: "cause", Left: true}}}
	table.Add("rail-1:Eth5 → spine-1", "400 Gbit/s", "129", "0 s", "incast of three flows that end at one port of host-4")
	table.AddStyled(Baseline, "日本:Eth1", "400 Gbit/s", "0", "–", "none")
	for _, c := range []struct {
		layout Layout
		want   string
	}{
		{Layout{Width: 60}, `Link                   ECN marks  cause
rail-1:Eth5 → spine-1        129  incast of three flows that
                                  end at one port of host-4
日本:Eth1                      0  none
`},
		{Layout{Color: true}, `Link                         rate  ECN marks  cause
rail-1:Eth5 → spine-1  400 Gbit/s        129  incast of three flows that end at one port of host-4
` + "\x1b[2m" + `日本:Eth1              400 Gbit/s          0  none` + "\x1b[0m\n"},
	} {
		s := &shown{layout: c.layout}
		if table.Print(s); s.String() != c.want {
			t.Errorf("%+v: got\n%s\nexpected\n%s", c.layout, s.String(), c.want)
		}
	}
}

// TestColour checks that colours and bars are printed only on a screen that supports them, and take no columns.
func TestColour(t *testing.T) {
	on := Layout{Color: true, Bars: true}
	if s := on.Paint(Error, "lost"); s != "\x1b[31mlost\x1b[0m" || Width(s) != 4 {
		t.Errorf("%q, %d columns", s, Width(s))
	}
	if s := on.Bar(0.5, 10); Width(s) != 5 {
		t.Errorf("a bar of %d columns: %q", Width(s), s)
	}
	off := Of(&strings.Builder{})
	if s := off.Paint(Error, "lost") + off.Bar(1, 10); s != "lost" || off.Width != 80 {
		t.Errorf("%q, %+v", s, off)
	}
	if s := Clip("日本日本", 6); s != "日本…" {
		t.Errorf("clipped %q", s)
	}
}
