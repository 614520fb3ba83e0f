package sonic_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/sonic"
	"railyard/internal/topo"
	"railyard/unit"
)

// models is a set of YANG modules, as far as needed to write config_db.json in their form: which module has a
// table, and the keys of its lists.
type models struct {
	files  []string
	module map[string]string     // table -> module
	lists  map[string][]yangList // table -> its lists
}

type yangList struct {
	name  string
	keys  []string
	inner *yangList // a map is a list of pairs within the row
	value string    // the other leaf of a pair

	numbers map[string]bool // its leaves that are plain numbers of up to 32 bits
	unions  map[string]bool // those that may be a number or another type
	many    map[string]bool // leaf-lists, which config_db.json has as one text with commas, or as a list
}

var (
	moduleLine = regexp.MustCompile(`(?m)^\s*module\s+([\w-]+)`)
	listBlock  = regexp.MustCompile(`(?s)(?:^|\s)list\s+([\w-]+)\s*\{`)
	keyLine    = regexp.MustCompile(`key\s+"([^"]+)"`)
	leafName   = regexp.MustCompile(`leaf\s+([\w-]+)`)
	leafList   = regexp.MustCompile(`leaf-list\s+([\w-]+)\s*\{`)
	leafHead   = regexp.MustCompile(`leaf(?:-list)?\s+([\w-]+)\s*\{`)
	plainType  = regexp.MustCompile(`type\s+(?:[\w-]+:)?([\w-]+)`)
	leafType   = regexp.MustCompile(`leaf\s+([\w-]+)\s*\{[^}]*?type\s+(?:[\w-]+:)?([\w-]+)`)
	typedefs   = regexp.MustCompile(`typedef\s+([\w-]+)\s*\{[^}]*?type\s+(u?int(?:8|16|32))\b`)
	container  = regexp.MustCompile(`container\s+([A-Z0-9_]+)\s*\{`)
	comment    = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
)

// block returns the text between the brace at text[open] and its partner.
func block(text string, open int) string {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[open+1 : i]
			}
		}
	}
	return text[open+1:]
}

func loadModels(t *testing.T, dir string) *models {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.yang")
	if err != nil || len(files) == 0 {
		t.Fatalf("no YANG modules in %s", dir)
	}
	plain := map[string]bool{"int8": true, "int16": true, "int32": true, "uint8": true, "uint16": true,
		"uint32": true}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range typedefs.FindAllStringSubmatch(comment.ReplaceAllString(string(b), ""), -1) {
			plain[n[1]] = true
		}
	}
	m := &models{files: files, module: map[string]string{}, lists: map[string][]yangList{}}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := comment.ReplaceAllString(string(b), "")
		name := moduleLine.FindStringSubmatch(text)
		if name == nil {
			continue
		}
		for _, c := range container.FindAllStringSubmatchIndex(text, -1) {
			table := text[c[2]:c[3]]
			body := block(text, c[1]-1)
			if lists := listsOf(body, plain); len(lists) > 0 || slices.Contains(rowwise, table) {
				m.module[table], m.lists[table] = name[1], lists
			}
		}
	}
	return m
}

// rowwise are tables with a container per row, and no list.
var rowwise = []string{"DEVICE_METADATA", "SWITCH_TRIMMING"}

// listsOf finds the lists directly in a body.
func listsOf(body string, plain map[string]bool) (out []yangList) {
	for {
		at := listBlock.FindStringSubmatchIndex(body)
		if at == nil {
			return out
		}
		inside := block(body, at[1]-1)
		l := yangList{name: body[at[2]:at[3]]}
		if k := keyLine.FindStringSubmatch(inside); k != nil {
			l.keys = strings.Fields(k[1])
		}
		if in := listsOf(inside, plain); len(in) == 1 {
			l.inner = &in[0]
		}
		l.numbers, l.unions, l.many = map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, n := range leafList.FindAllStringSubmatch(inside, -1) {
			l.many[n[1]] = true
		}
		for _, at := range leafHead.FindAllStringSubmatchIndex(inside, -1) {
			types := plainType.FindAllStringSubmatch(block(inside, at[1]-1), -1)
			for _, ty := range types {
				if len(types) > 1 && plain[ty[1]] {
					l.unions[inside[at[2]:at[3]]] = true
				}
			}
		}
		for _, n := range leafType.FindAllStringSubmatch(inside, -1) {
			l.numbers[n[1]] = plain[n[2]]
		}
		for _, n := range leafName.FindAllStringSubmatch(inside, -1) {
			if !slices.Contains(l.keys, n[1]) {
				l.value = n[1]
			}
		}
		out = append(out, l)
		body = body[at[1]+len(inside):]
	}
}

// document writes a config_db.json in the modules' form: rows become list entries, keys with bars their key leaves,
// maps lists of pairs.
func (m *models) document(t *testing.T, text string) []byte {
	t.Helper()
	var db map[string]map[string]map[string]string
	if err := json.Unmarshal([]byte(text), &db); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for table, rows := range db {
		module, ok := m.module[table]
		if !ok {
			t.Fatalf("no YANG module has the table %s", table)
		}
		to, _ := out[module+":"+module].(map[string]any)
		top := out
		name := module + ":" + table
		if strings.HasPrefix(module, "sonic-") { // published modules wrap their tables once more
			if to == nil {
				to = map[string]any{}
				out[module+":"+module] = to
			}
			top, name = to, table
		}
		top[name] = m.table(t, table, rows)
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (m *models) table(t *testing.T, table string, rows map[string]map[string]string) map[string]any {
	t.Helper()
	out := map[string]any{}
	var keys []string
	for k := range rows {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, key := range keys {
		if len(m.lists[table]) == 0 { // rowwise
			row := typed(rows[key])
			if size, ok := row["size"]; ok { // of 32 bits, where buffers' have 64
				row["size"] = json.Number(fmt.Sprint(size))
			}
			out[key] = row
			continue
		}
		parts := strings.Split(key, "|")
		i := slices.IndexFunc(m.lists[table], func(l yangList) bool { return len(l.keys) == len(parts) })
		if i < 0 {
			t.Fatalf("%s has no list with %d keys", table, len(parts))
		}
		l := m.lists[table][i]
		entry := map[string]any{}
		if l.inner == nil {
			for leaf, v := range rows[key] {
				entry[leaf] = l.typed(leaf, v)
			}
		} else {
			var pairs []any
			for k, v := range rows[key] {
				pairs = append(pairs, map[string]any{l.inner.keys[0]: l.inner.typed(l.inner.keys[0], k),
					l.inner.value: l.inner.typed(l.inner.value, v)})
			}
			entry[l.inner.name] = pairs
		}
		for j, p := range parts {
			entry[l.keys[j]] = l.typed(l.keys[j], p)
		}
		list, _ := out[l.name].([]any)
		out[l.name] = append(list, entry)
	}
	return out
}

// numbers are the leaves that YANG's JSON writes as numbers. 64-bit ones are strings there, as in config_db.json.
var numbers = []string{"index", "speed", "mtu", "weight", "dynamic_th", "vlanid", "min_links", "domain_id",
	"detection_time", "restoration_time", "POLL_INTERVAL", "bgp_asn", "dscp_value", "tc_value",
	"queue_index"}

func typed(row map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range row {
		out[k] = typedValue(k, v)
	}
	return out
}

// typed returns a value in the list's own type, if that is plain.
func (l *yangList) typed(leaf, v string) any {
	if l.many[leaf] {
		list := []any{}
		for s := range strings.SplitSeq(v, ",") {
			list = append(list, l.one(leaf, s))
		}
		return list
	}
	return l.one(leaf, v)
}

// one is a value that is no list.
func (l *yangList) one(leaf, v string) any {
	if l.unions[leaf] && v != "" && strings.Trim(v, "0123456789") == "" {
		return json.Number(v)
	}
	if l.numbers[leaf] {
		return json.Number(v)
	}
	return typedValue(leaf, v)
}

func typedValue(leaf, v string) any {
	switch {
	case slices.Contains(numbers, leaf) && strings.Trim(v, "-0123456789") == "":
		return json.Number(v)
	case strings.HasPrefix(leaf, "wred_") && strings.HasSuffix(leaf, "_enable"):
		return v == "true"
	}
	return v
}

// yanglint accepts the output for every kind of fabric, by this project's models of the tables.
func TestYanglint(t *testing.T) { yanglint(t, "testdata/yang", true) }

// It also does by SONiC's published models, if RAILYARD_SONIC_YANG names a directory with them
// (src/sonic-yang-models/yang-models of sonic-buildimage, made from its templates), or RAILYARD_SHARED one that has
// them.
func TestPublishedYang(t *testing.T) {
	dir := os.Getenv("RAILYARD_SONIC_YANG")
	if dir == "" {
		dir = published.Path(t, "sonic-yang")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.yang")); len(files) == 0 {
		t.Skip("RAILYARD_SONIC_YANG names no folder with SONiC's published models")
	}
	yanglint(t, dir, false)
}

func yanglint(t *testing.T, dir string, ours bool) {
	if _, err := exec.LookPath("yanglint"); err != nil {
		t.Skip("yanglint is not installed (libyang2-tools)")
	}
	m := loadModels(t, dir)
	b := batch{models: m, dir: t.TempDir()}
	for _, kind := range append(topo.Kinds(), "rail"+bundled) {
		if kind == "graph" { // which has no shape of its own
			continue
		}
		all := specs()
		if kind != "rail" { // each table is one of all kinds, or of the kind
			all = []queue.Spec{all[0], all[len(all)-1]}
		}
		for i, s := range all {
			b.add(t, fmt.Sprintf("%s, spec %d", kind, i), render(t, kind, s))
		}
	}
	for _, kind := range []string{"rail", "fat-tree"} {
		b.add(t, kind+" with segments", renderAs(t, kind, segmented(), true))
	}
	for _, name := range sonic.HwSKUs() { // those with such ports, because SN3700 is too slow
		p := sonic.Known(name)
		if name == "ACS-MSN3700" {
			continue
		}
		b.add(t, name, renderOn(t, p, "rail", specs()[0], false))
	}
	b.lint(t)
	// The check can fail.
	all := specs()
	texts := []string{render(t, "rail", all[0])[0], render(t, "rail", all[len(all)-1])[0],
		renderAs(t, "rail", segmented(), true)[0]}
	for _, wrong := range []struct {
		what, with string
		of         int
		ours       bool // the published models accept it
	}{
		{`"weight": "50"`, `"weight": "500"`, 0, false},
		{`"profile": "pg_lossless_3_400000_3m"`, `"profile": "nobody"`, 0, false},
		{`"pfc_enable": "3"`, `"pfc_enable": "3,4,5"`, 0, true},
		{`"mode": "static"`, `"mode": "dynamic"`, 0, true},
		{`"packet_discard_action": "trim"`, `"packet_discard_action": "cut"`, 1, false},
		{`"dscp_value": "from-tc"`, `"dscp_value": "64"`, 1, false},
		{`"queue_index": "7"`, `"queue_index": "any"`, 1, false},
		{`"tc_to_dscp_map": "TRIM_FABRIC"`, `"tc_to_dscp_map": "NOBODY"`, 1, false},
		{`"dscp_value": "from-tc"`, `"dscp_value": "48"`, 1, true}, // and a traffic class without effect
		{`"action": "uN"`, `"action": "uX"`, 2, false},
		{`"RAILYARD1|fcbb`, `"NOBODY|fcbb`, 2, false},
		{`"decap_dscp_mode": "uniform"`, `"decap_dscp_mode": "keep"`, 2, false},
		{`"func_len": "16"`, `"func_len": "90"`, 2, false},
		{`"default|fcbb`, `"blue|fcbb`, 2, false},
		{`"ifname": "Ethernet16"`, `"ifname": "Ethernet999"`, 2, true},
	} {
		if wrong.ours && !ours {
			continue
		}
		text := texts[wrong.of]
		if !strings.Contains(text, wrong.what) {
			t.Errorf("no %s in\n%s", wrong.what, text)
			continue
		}
		b.add(t, wrong.with, []string{strings.Replace(text, wrong.what, wrong.with, 1)})
		if _, err := m.run(b.files[len(b.files)-1]); err == nil {
			t.Errorf("%s: %s passes", dir, wrong.with)
		}
	}
	if _, err := m.run(b.files[0], b.files[len(b.files)-1], b.files[1]); err == nil {
		t.Errorf("%s: %s passes between others", dir, b.names[len(b.names)-1])
	}
}

// specs are switches that use every table.
func specs() []queue.Spec {
	plain := queue.Default()
	plain.Watchdog.On = true
	limited := plain
	limited.Queues[0].Limit = 100 * unit.KB
	dynamic := plain
	dynamic.Queues[4] = queue.Class{Weight: 0, Lossless: true, Alpha: 0.125, Headroom: 100 * unit.KB,
		WRED: plain.Queues[3].WRED}
	computed := dynamic // headroom of each port's own cable
	computed.Queues[4].Headroom = 0
	trims := plain // another DSCP at ports to servers is a separate map
	trims.Watchdog.On = false
	trims.Queues[3] = queue.Class{Weight: 50, Trim: true, Limit: 200 * unit.KB, WRED: plain.Queues[3].WRED}
	trims.Trim = queue.Trim{Size: 128, DSCP: 48, LastHop: 48}
	last := trims
	last.Trim.LastHop = 56
	last.DSCP[56] = last.DSCP[48]
	return []queue.Spec{plain, limited, dynamic, computed, trims, last}
}

// segmented is a switch for packets that name their paths; it trims, and marks in the core.
func segmented() queue.Spec {
	all := specs()
	s := all[len(all)-1]
	s.CoreMarks = true
	return s
}

// bundled is the suffix of a kind whose cables between switches are bundled.
const bundled = " in bundles"

func render(t *testing.T, kind string, s queue.Spec) (texts []string) {
	t.Helper()
	return renderAs(t, kind, s, false)
}

func renderAs(t *testing.T, kind string, s queue.Spec, segments bool) []string {
	return renderOn(t, sonic.Known("ACS-SN5600"), kind, s, segments)
}

func renderOn(t *testing.T, p *sonic.Profile, kind string, s queue.Spec, segments bool) (texts []string) {
	t.Helper()
	ports := 1
	kind, bundles := strings.CutSuffix(kind, bundled)
	if kind == "dual-rail" || kind == "pod" {
		ports = 2
	}
	g, err := topo.Build(kind, topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: ports}, Hosts: 2,
		Segments: 2, Spines: 2, Uplinks: 2, K: 4, Tiers: 3, Cubes: [3]int{2, 1, 1},
		HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
		Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
	if err != nil {
		t.Fatal(err)
	}
	if bundles {
		if err := g.BundleAll(2, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := sonic.Fit(g, func(int) *sonic.Profile { return p }); err != nil {
		t.Fatal(err)
	}
	d, err := design.Make(design.Fabric{Name: "test", Graph: g, Spec: func(int) queue.Spec {
		return s
	}, DataDSCP: 24, CNPDSCP: 48,
		OS: swconf.SONiC, Addressing: design.Numbered, Multihome: design.MLAG, Segments: segments})
	if err != nil {
		t.Fatal(err)
	}
	for _, sw := range []*design.Switch{d.Switches[0], d.Switches[len(d.Switches)-1]} {
		files, err := sonic.Render(d, sw)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, files[0].Text)
	}
	return texts
}

// run has yanglint validate each of some documents.
func (m *models) run(documents ...string) (string, error) {
	args := append([]string{"-p", filepath.Dir(m.files[0])}, m.files...)
	out, err := exec.Command("yanglint", append(args, documents...)...).CombinedOutput()
	return string(out), err
}

// batch is documents that one call of yanglint validates, because loading SONiC's 150 modules takes 50 times as
// long as validating a document.
type batch struct {
	*models
	dir          string
	files, names []string
}

func (b *batch) add(t *testing.T, name string, texts []string) {
	t.Helper()
	for _, text := range texts {
		file := filepath.Join(b.dir, fmt.Sprintf("%d.json", len(b.files)))
		if err := os.WriteFile(file, b.document(t, text), 0o644); err != nil {
			t.Fatal(err)
		}
		b.files, b.names = append(b.files, file), append(b.names, name)
	}
}

// lint validates all documents at once. yanglint ends at the first invalid one, so each is then validated alone, to
// name all of them.
func (b *batch) lint(t *testing.T) {
	t.Helper()
	out, err := b.run(b.files...)
	if err == nil {
		return
	}
	for i, file := range b.files {
		if out, err := b.run(file); err != nil {
			t.Errorf("%s, %s: %v\n%s", filepath.Dir(b.models.files[0]), b.names[i], err, out)
		}
	}
	if !t.Failed() {
		t.Errorf("%s: documents pass alone, not together: %v\n%s", filepath.Dir(b.models.files[0]), err, out)
	}
}
