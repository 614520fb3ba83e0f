package cli_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/swconf/cli"
)

// router is a small command line: global commands, and interfaces below.
func router(said *[]string) *cli.Mode {
	say := func(format string, args ...any) { *said = append(*said, fmt.Sprintf(format, args...)) }
	port := cli.NewMode("interface")
	port.Set("[no] mtu <size:int>", func(m *cli.Match) {
		if m.No {
			say("mtu as it was")
			return
		}
		say("mtu %d at column %d", m.Int("size"), m.Col("size"))
	})
	port.Set("speed <rate:auto|100g|400g> [forced]", func(m *cli.Match) {
		say("speed %s, forced %v", m.Word("rate"), m.Has("forced"))
	})
	port.Set("description <text...>", func(m *cli.Match) { say("text %q", m.Word("text")) })
	port.Set("no shutdown", func(*cli.Match) { say("up") })
	root := cli.NewMode("global")
	root.On("interface <name>", func(m *cli.Match) *cli.Mode {
		say("interface %s", m.Word("name"))
		return port
	})
	root.Set("hostname <name>", func(m *cli.Match) { say("name %s", m.Word("name")) })
	root.Set("hardware <share:num>", func(m *cli.Match) { say("share %v", m.Num("share")) })
	root.Skip(func(*cli.Match) {}, "logging")
	return root
}

func read(t *testing.T, text string) (said string, unknown []cli.Unknown) {
	t.Helper()
	lines, err := cli.Scan("x.cfg", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	unknown, tooMany := cli.Read(lines, router(&list))
	if tooMany != nil {
		t.Fatalf("line %d opens too many sections", tooMany.Num)
	}
	return strings.Join(list, "; "), unknown
}

// A word that is a command is never an abbreviation of a longer one, even if its own line is malformed: ip adress
// is not ipv6 adress.
func TestWholeWords(t *testing.T) {
	var said []string
	root := cli.NewMode("config-if")
	root.Set("ip address <prefix>", func(m *cli.Match) { said = append(said, "ip "+m.Word("prefix")) })
	root.Skip(func(*cli.Match) { said = append(said, "v6") }, "ipv6")
	for text, want := range map[string]string{"ip address x": "[ip x] 0", "ipv address x": "[v6] 0",
		"ipv6 enable": "[v6] 0", "ip adress x": "[] 1", "IP adress x": "[] 1", "i address x": "[ip x] 0"} {
		said = nil
		lines, err := cli.Scan("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		unknown, _ := cli.Read(lines, root)
		if got := fmt.Sprint(said, len(unknown)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A family lists the words that may follow its first words. Of many words the error names the nearest, of few all.
func TestFamilies(t *testing.T) {
	passed := 0
	root := cli.NewMode("config-if").Families(func(*cli.Match) { passed++ }, map[string]string{
		"lacp": "rate|timer", "mtu": "", "ip ospf": "area|cost|network|priority|hello|dead|passive|bfd|mtu"})
	for text, why := range map[string]string{"lacp rate fast": "", "lacp t": "", "no lacp timer 3": "",
		"mtu 3": "", "mtu": "", "ip ospf bfd on": "", "ip ospf are 0": "",
		"lacp speed 3":   `found "speed", expected rate or timer`,
		"lacp":           "the command ends early, expected rate or timer",
		"ip ospf aera":   `found "aera", expected "area", or one of 8 other words`,
		"ip ospf colour": `found "colour", expected one of 9 words`} {
		passed = 0
		lines, err := cli.Scan("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		unknown, _ := cli.Read(lines, root)
		if why == "" != (passed == 1) || why == "" != (len(unknown) == 0) ||
			len(unknown) == 1 && unknown[0].Why != why {
			t.Errorf("%s: passed over %d, %+v; want %s", text, passed, unknown, why)
		}
	}
}

// Typical input: keywords in full or abbreviated, in any case, quoted words, negated commands, modes by indentation
// or by order, prompts of a session.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"in full":           {"interface e1\n  mtu 9216\n", "interface e1; mtu 9216 at column 7"},
		"abbreviated":       {"int e1\n  sp 4 fo\n", "interface e1; speed 400g, forced true"},
		"any case":          {"INTERFACE e1\n  MTU 9216\n", "interface e1; mtu 9216 at column 7"},
		"optional left out": {"interface e1\n  speed auto\n", "interface e1; speed auto, forced false"},
		"a quoted word":     {"hostname \"leaf 1\"\n", "name \"leaf 1\""},
		"the rest of a line": {"interface e1\n  description to  spine 1\n",
			"interface e1; text \"to  spine 1\""},
		"undone":            {"interface e1\n  no mtu 9216\n", "interface e1; mtu as it was"},
		"undone, cut short": {"interface e1\n  no mtu\n", "interface e1; mtu as it was"},
		"by its default":    {"interface e1\n  default mtu\n", "interface e1; mtu as it was"},
		"the no form alone": {"interface e1\n  no shutdown\n", "interface e1; up"},
		"not indented": {"interface e1\nmtu 9216\nhostname a\n",
			"interface e1; mtu 9216 at column 5; name a"},
		"left by exit": {"interface e1\nmtu 9216\nexit\nhostname a\n",
			"interface e1; mtu 9216 at column 5; name a"},
		"a session": {"leaf(config)# int e1\nleaf(config-if)# mtu 9216\n",
			"interface e1; mtu 9216 at column 22"},
		"asked for in a session": {"leaf# logging x\n  of it\nhostname b\nleaf# sh run | no\n" +
			"interface e1\n  mtu 9216\nhostname a\nleaf#\n", "interface e1; mtu 9216 at column 7; name a"},
		"comments and blanks":     {"! x\n\n# y\nhostname a\n", "name a"},
		"carriage returns":        {"interface e1\r\n  mtu 9216\r\n", "interface e1; mtu 9216 at column 7"},
		"passed over, with below": {"logging server a\n  level 7\nhostname a\n", "name a"},
		"a banner":                {"banner motd #\nhostname b\n#\nhostname a\n", "name a"},
		"a fraction":              {"hardware 12.5\n", "share 12.5"},
	} {
		t.Run(name, func(t *testing.T) {
			said, unknown := read(t, c.text)
			for _, u := range unknown {
				if !strings.HasPrefix(u.Line.Text, "banner") { // no rule of this parser matches it
					t.Errorf("line %d is unknown: %s", u.Line.Num, u.Why)
				}
			}
			if said != c.want {
				t.Errorf("%s, want %s", said, c.want)
			}
		})
	}
}

// A table is created once, and its commands refer to the object for which the previous line opened it.
func TestModeOf(t *testing.T) {
	var said []string
	say := func(m *cli.Match) { said = append(said, fmt.Sprint(m.Of, " ", m.Line.Text)) }
	family := cli.NewMode("family").Set("map <name>", say)
	peer := cli.NewMode("peer").Set("as <n:int>", say)
	peer.On("family", func(m *cli.Match) *cli.Mode { return family.Of(m.Of.(string) + "'s family") })
	root := cli.NewMode("global").Set("as <n:int> <name>", say)
	root.On("peer <name>", func(m *cli.Match) *cli.Mode { return peer.Of(m.Word("name")) })
	for _, c := range root.Commands() { // which a test enters separately
		of := c.Enter(&cli.Line{Text: "peer z", Words: []cli.Word{{Text: "peer"}, {Text: "z"}}})
		if of != nil {
			of.Commands()[0].Enter(&cli.Line{Text: "as 3", Words: []cli.Word{{Text: "as"}, {Text: "3"}}})
		}
	}
	lines, err := cli.Scan("x",
		[]byte("peer a\n as 1\n family\n  map x\n as 2\npeer b\n family\n  map y\nas 4 g\n"))
	if err != nil {
		t.Fatal(err)
	}
	unknown, _ := cli.Read(lines, root)
	if got := strings.Join(said, "; "); len(unknown) > 0 ||
		got != "z as 3; a as 1; a's family map x; a as 2; b's family map y; <nil> as 4 g" {
		t.Errorf("%s, %d unknown", got, len(unknown))
	}
}

// Unmatched input is reported with its position and what is accepted there.
func TestUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
		col  int
		why  string
	}{
		"no such command": {"hostname a\nfrobnicate\n", 2, 1, "unknown command"},
		"no such keyword": {"interface e1\n  speed 200g\n", 2, 9,
			`found "200g", expected auto or 100g or 400g`},
		"not a number": {"interface e1\n  mtu big\n", 2, 7, `found "big", expected a whole number`},
		"cut off": {"interface e1\n  mtu\n", 2, 6,
			"the command ends early, expected a whole number"},
		"too long":              {"hostname a b\n", 1, 12, `found "b", expected the end of the line`},
		"two meanings":          {"h 5\n", 1, 1, `"h" is ambiguous: "hostname" or "hardware"`},
		"no before what has no": {"no hostname a\n", 1, 1, `"no" is not understood before "hostname"`},
		"no twice": {"interface e1\n  no no mtu\n", 2, 6,
			`"no" is not accepted before this command`},
		"global, but indented": {"interface e1\n  hostname a\n", 2, 3, "unknown command"},
		"shutdown without no":  {"interface e1\n  shutdown\n", 2, 3, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			said, unknown := read(t, c.text)
			if len(unknown) != 1 {
				t.Fatalf("%d unknown lines, said: %s", len(unknown), said)
			}
			u := unknown[0]
			if u.Line.Num != c.line || u.Col != c.col || !strings.Contains(u.Why, c.why) {
				t.Errorf("%d:%d: %s, want %d:%d: %s", u.Line.Num, u.Col, u.Why, c.line, c.col, c.why)
			}
		})
	}
}

// Lines indented below an unknown command are unknown, too: they are not matched as commands of the outer mode.
func TestBelowAnUnknownCommand(t *testing.T) {
	said, unknown := read(t, "tunnel 7\n  hostname a\nhostname b\n")
	if said != "name b" || len(unknown) != 2 {
		t.Errorf("said %s, %d lines unknown", said, len(unknown))
	}
}

// A file that is no configuration text is rejected with its position before any rule reads it.
func TestRefusedTexts(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {" \n", "x.cfg: is empty"},
		"zero bytes":     {"hostname a\nb\x00", "x.cfg:2:2: is a binary file"},
		"no text":        {"a\xff\x01", "x.cfg:1:2: is a binary file"},
		"one long line":  {"hostname " + strings.Repeat("a", 9000), "x.cfg:1:8192: the line is longer than"},
		"endless banner": {"banner motd #\nhello\n", "the banner never ends"},
		"too large":      {strings.Repeat("\n", cli.MaxSize+1), "at most 16777216 are read"},
	} {
		_, err := cli.Scan("x.cfg", []byte(c.text))
		var syntax *cli.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A text that opens section after section is rejected at the limit of sections, and its other lines are not
// processed.
func TestTooManySections(t *testing.T) {
	lines, err := cli.Scan("x.cfg", []byte(strings.Repeat("interface e\n", 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	if _, tooMany := cli.Read(lines, router(&said)); tooMany == nil || len(said) > 10_001 {
		t.Errorf("%d sections were opened", len(said))
	}
}

// An impossible pattern is a bug of this program and found when it is written.
func TestBadPatterns(t *testing.T) {
	for _, pattern := range []string{"a ] b", "a [b", "a ] [ b", "a <b> b"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("pattern %q is taken", pattern)
				}
			}()
			cli.NewMode("x").Set(pattern, func(*cli.Match) {})
		}()
	}
}

// A dialect is a table of patterns.
func ExampleMode() {
	queue := cli.NewMode("queue")
	queue.Set("[no] random-detect [minimum-threshold] <min:int> <unit:bytes|kbytes> [ecn]",
		func(m *cli.Match) {
			fmt.Println("WRED from", m.Int("min"), m.Word("unit"), "with ecn:", m.Has("ecn"))
		})
	root := cli.NewMode("global")
	root.On("queue <name>", func(*cli.Match) *cli.Mode { return queue })

	lines, err := cli.Scan("leaf.cfg",
		[]byte("queue q3\n  random-det 150 kb ecn\n  random-detect many bytes\n"))
	if err != nil {
		fmt.Println(err)
	}
	unknown, _ := cli.Read(lines, root)
	for _, u := range unknown {
		fmt.Printf("leaf.cfg:%d:%d: %s\n", u.Line.Num, u.Col, u.Why)
	}
	// Output:
	// WRED from 150 kbytes with ecn: true
	// leaf.cfg:3:17: found "many", expected "minimum-threshold", a whole number
}

// no needs no value: it negates the command named by its words. Of two matching rules, the one with more full words
// wins, even if another one, or an abbreviation of it, matches the line to its end. With equal numbers it is the
// one that matches to the end.
func TestNoWithoutItsValue(t *testing.T) {
	var said []string
	rule := func(m *cli.Mode, pattern string) {
		m.Set(pattern, func(x *cli.Match) { said = append(said, pattern) })
	}
	root := cli.NewMode("global")
	for _, p := range []string{"[no] router-id <id>", "[no] router bgp <asn>", "[no] load seed <n:int>",
		"[no] load <more...>", "[no] peer <who> group", "[no] peer <who> group <name>", "no peer <who>"} {
		rule(root, p)
	}
	for line, want := range map[string]string{
		"no router bgp":            "[no] router bgp <asn>",
		"no router bgp 65001":      "[no] router bgp <asn>",
		"no router-id":             "[no] router-id <id>",
		"no load seed":             "[no] load seed <n:int>",
		"no load seed 7":           "[no] load seed <n:int>",
		"no load mode x":           "[no] load <more...>",
		"no peer 10.0.0.1":         "no peer <who>",
		"no peer F group":          "[no] peer <who> group",
		"no peer 10.0.0.1 group F": "[no] peer <who> group <name>",
	} {
		said = nil
		lines, err := cli.Scan("x.cfg", []byte(line+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if unknown, _ := cli.Read(lines, root); len(unknown) > 0 || len(said) != 1 || said[0] != want {
			t.Errorf("%q is taken by %q, %v; want %q", line, said, unknown, want)
		}
	}
}

// A text in any encoding of editors is parsed, with correct positions.
func TestLetters(t *testing.T) {
	const plain = "interface e1\n  description Büro\n  mtu 9216\n"
	const want = `interface e1; text "Büro"; mtu 9216 at column 7`
	wide := func(high, low func(r rune) byte) string {
		var b strings.Builder
		for _, r := range "\ufeff" + plain {
			b.WriteByte(high(r))
			b.WriteByte(low(r))
		}
		return b.String()
	}
	hi, lo := func(r rune) byte { return byte(r >> 8) }, func(r rune) byte { return byte(r) }
	for name, text := range map[string]string{"UTF-8": plain, "with a mark": "\ufeff" + plain,
		"Latin-1":                 strings.ReplaceAll(plain, "ü", "\xfc"),
		"UTF-16":                  wide(lo, hi),
		"UTF-16, high byte first": wide(hi, lo),
		"UTF-16 without a mark":   wide(lo, hi)[2:],
		"the same, high first":    wide(hi, lo)[2:]} {
		if said, unknown := read(t, text); said != want || len(unknown) > 0 {
			t.Errorf("%s: %s, %d lines unknown", name, said, len(unknown))
		}
	}
	got := string(cli.Decode([]byte("a text of \x93b\x94 \x96 \x80")))
	if got != "a text of “b” – €" {
		t.Errorf("Windows-1252: %s", got)
	}
}

// Modes follow commands: a section with unindented lines equals one with indented lines, even mixed in one text. A
// line known to both modes belongs to the inner one by default.
func TestModesFollowCommands(t *testing.T) {
	router := func(said *[]string) *cli.Mode {
		say := func(s string) { *said = append(*said, s) }
		class := cli.NewMode("class")
		class.Set("mtu <n:int>", func(m *cli.Match) { say("class mtu " + m.Word("n")) })
		policy := cli.NewMode("policy").On("class <name>", func(m *cli.Match) *cli.Mode {
			say("class " + m.Word("name"))
			return class
		})
		port := cli.NewMode("port")
		port.Set("mtu <n:int>", func(m *cli.Match) { say("port mtu " + m.Word("n")) })
		port.Set("<what:policy-id|zone> <id>", func(m *cli.Match) {
			say(m.Word("what") + " " + m.Word("id"))
		})
		port.Set("down", func(*cli.Match) { say("down") })
		port.Skip(func(*cli.Match) { say("port tree") }, "tree")
		root := cli.NewMode("root")
		root.On("policy <name>", func(m *cli.Match) *cli.Mode { say("policy"); return policy })
		root.On("interface <name>", func(m *cli.Match) *cli.Mode { say(m.Word("name")); return port })
		root.Set("configure [ terminal ]", func(*cli.Match) { say("conf") })
		return root.Skip(func(*cli.Match) { say("tree") }, "tree")
	}
	for text, want := range map[string]string{
		"policy p\n  class a\n    mtu 1\n  class b\n    mtu 2\ninterface e1\n  tree x\n  mtu 3\n" +
			"tree y\n": "policy; class a; class mtu 1; class b; class mtu 2; e1; port tree; port mtu 3; tree",
		"policy p\nclass a\nmtu 1\nclass b\nmtu 2\ninterface e1\ntree x\nmtu 3\n": "policy; class a; " +
			"class mtu 1; class b; class mtu 2; e1; port tree; port mtu 3",
		// one section is indented, the others are not
		"policy p\n class a\n  mtu 1\ninterface e1\nmtu 3\ntree x\ndown\ninterface e2\n" +
			"tree x\nmtu 4\n": "policy; class a; class mtu 1; e1; port mtu 3; " +
			"port tree; down; e2; port tree; port mtu 4",
		"policy p\nclass a\n  mtu 1\nclass b\n  mtu 2\ninterface e1\n  mtu 3\n": "policy; class a; " +
			"class mtu 1; class b; class mtu 2; e1; port mtu 3",
		// exits leave exactly the open sections
		"conf\ninterface e1\ntree x\nmtu 3\nexit\npolicy p\nclass a\nmtu 1\nexit\nclass b\nexit\nexit\n" +
			"tree y\nend\nconf t\ntree z\n": "conf; e1; port tree; port mtu 3; policy; class a; " +
			"class mtu 1; class b; tree; conf; tree",
		// empty sections of an indented text contain none of the following lines
		"interface e1\n  mtu 3\ninterface e2\ntree y\n": "e1; port mtu 3; e2; tree",
		// a full match outside precedes an abbreviation inside, which applies elsewhere
		"interface e1\nmtu 3\npolicy p\nclass a\nmtu 1\ninterface e2\n" +
			"policy-i 7\n": "e1; port mtu 3; policy; class a; class mtu 1; e2; policy-id 7",
		// after an unknown line
		"policy p\nclass a\nfrob\nmtu 1\ninterface e1\n down\n": "policy; class a; class mtu 1; e1; down",
	} {
		lines, err := cli.Scan("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		cli.Read(lines, router(&said))
		if got := strings.Join(said, "; "); got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
	}
}

// An unknown line is reported with up to four commands that begin as it does, in their written form.
func TestCommandsNear(t *testing.T) {
	m := cli.NewMode("port")
	do := func(*cli.Match) {}
	for _, p := range []string{"[no] flow mode <mode:auto|on> [ send-tlv ]", "flow class <name> <n:int>", "no flow all",
		"flow text <what...>", "speed <rate>"} {
		m.Set(p, do)
	}
	for line, want := range map[string]string{
		"flow receive on": "flow mode auto|on; flow class NAME N; flow text WHAT",
		"flow mode off":   "flow mode auto|on", "rate 3": ""} {
		lines, err := cli.Scan("x", []byte(line+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		unknown, _ := cli.Read(lines, m)
		if got := strings.Join(unknown[0].Near, "; "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
