package dialect_test

import (
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/swconf/nvue"
)

// nvueWords checks a word of a command for each kind of the table.
var nvueWords = map[string]func(string) bool{
	"<n>":      func(s string) bool { n, err := strconv.ParseInt(s, 10, 64); return err == nil && n >= 0 },
	"<as>":     func(s string) bool { n, err := strconv.ParseUint(s, 10, 32); return err == nil && n > 0 },
	"<list>":   regexp.MustCompile(`^\d+(,\d+)*$`).MatchString,
	"<if>":     regexp.MustCompile(`^(swp\d+(s\d+)?|bond\d+|peerlink|lo|vlan\d+)$`).MatchString,
	"<name>":   regexp.MustCompile(`^[A-Za-z][\w.-]*$`).MatchString,
	"<text>":   func(string) bool { return true },
	"<mac>":    regexp.MustCompile(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$`).MatchString,
	"<alpha>":  regexp.MustCompile(`^alpha_(0|(1_)?(1|2|4|8|16|32|64)|1_128)$`).MatchString,
	"<speed>":  regexp.MustCompile(`^(1|10|25|40|50|100|200|400|800)G$`).MatchString,
	"<parts>":  regexp.MustCompile(`^[248]x$`).MatchString,
	"<ip>":     func(s string) bool { _, err := netip.ParseAddr(s); return err == nil },
	"<prefix>": func(s string) bool { _, err := netip.ParsePrefix(s); return err == nil },
	"<who>": func(s string) bool {
		_, err := netip.ParseAddr(s)
		return err == nil || regexp.MustCompile(`^(swp|bond)\d+`).MatchString(s)
	},
}

// Every command written for any kind of fabric is in the table made from NVIDIA's reference, word for word, and
// every line of the table is used.
func TestNVUEGrammar(t *testing.T) {
	text, err := os.ReadFile("../nvue/testdata/grammar.txt")
	if err != nil {
		t.Fatal(err)
	}
	var table [][]string
	used := map[int]bool{}
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(l, "#") {
			continue
		}
		path, source, ok := strings.Cut(l, " | ")
		if !ok || source == "" {
			t.Fatalf("%q names no reference", l)
		}
		table = append(table, strings.Fields(path))
	}
	quoted := regexp.MustCompile(`'[^']*'`)
	check := func(name string, d *design.Design) {
		files, err := dialect.Render(d)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Path, "/nvue.txt") {
				continue
			}
			for i, l := range strings.Split(strings.TrimSpace(f.Text), "\n") {
				if strings.HasPrefix(l, "#") {
					continue
				}
				words := strings.Fields(quoted.ReplaceAllString(strings.TrimPrefix(l, "nv set "), "quoted"))
				row := slices.IndexFunc(table, func(row []string) bool {
					return slices.EqualFunc(row, words, func(want, got string) bool {
						is := nvueWords[want]
						return is == nil && want == got || is != nil && is(got)
					})
				})
				if row < 0 {
					t.Fatalf("%s: %s:%d: %s: no line of the table", name, f.Path, i+1, l)
				}
				used[row] = true
			}
		}
	}
	odd, dynamic := spec(), spec()
	odd.Queues[5].WRED = queue.WRED{Min: 1000, Max: 2000, Probability: 0.5}
	odd.Queues[6].Limit, odd.Queues[6].Alpha = 10_000, 0
	odd.Queues[0].WRED = queue.WRED{Min: 1000, Max: 2000, Probability: 0.5, ECN: true}
	dynamic.Queues[3].XOff, dynamic.Queues[3].XOn, dynamic.Queues[3].Alpha = 0, 0, 1
	for _, kind := range []string{"single-rail", "dual-rail", "rail-only", "rail", "pod", "fat-tree"} {
		for _, addressing := range []string{design.Unnumbered, design.Numbered} {
			for _, multihome := range []string{design.MLAG, design.ESI} {
				for _, dlb := range []string{"", "per-packet"} {
					for _, s := range []queue.Spec{spec(), odd, dynamic} {
						d, err := plan(fabric(t, kind), s, swconf.NVUE, addressing, multihome, dlb)
						if err != nil {
							t.Fatal(err)
						}
						check(kind+" "+addressing+" "+multihome+" "+dlb, d)
					}
				}
			}
		}
	}
	for _, addressing := range []string{design.Unnumbered, design.Numbered} {
		d, err := plan(channelledBy(t, 1), spec(), swconf.NVUE, addressing, "", "")
		if err != nil {
			t.Fatal(err)
		}
		check("channels", d)
	}
	for i, row := range table {
		if path := strings.Join(row, " "); !used[i] && !strings.Contains(path, "breakout") {
			t.Errorf("nothing that is rendered has %s", path)
		}
	}
}

// The parser accepts the table, too.
func TestNVUEReadsItsTable(t *testing.T) {
	text, err := os.ReadFile("../nvue/testdata/grammar.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer(
		"mtu <n>", "mtu 9216", "<n>", "3", "<as>", "65001", "<list>", "3", "<if>",
		"swp1", "<name>", "a", "<text>", "'a b'", "<mac>", "44:38:39:ff:00:01",
		"<alpha>", "alpha_2", "<speed>", "400G", "<parts>", "2x", "<ip>", "10.0.0.1",
		"<prefix>", "10.0.0.1/31", "<who>", "swp1", "interface <if> bond",
		"interface bond1 bond")
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		path, _, ok := strings.Cut(l, " | ")
		if !ok {
			continue
		}
		line := "nv set " + words.Replace(path)
		c, err := nvue.Parse("x", []byte(line+"\n"))
		if err != nil || len(c.Unknown) > 0 || len(c.Faults) > 0 {
			t.Errorf("%s: %v %+v", line, err, c)
		}
	}
}
