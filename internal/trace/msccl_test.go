package trace

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/unit"

	"pgregory.net/rapid"
)

// mscclStepLine writes a step.
func mscclStepLine(n int, kind string, src, dst string, cnt, depID, dep int) string {
	return fmt.Sprintf("<step s=\"%d\" type=\"%s\" srcbuf=\"%c\" srcoff=\"%s\" dstbuf=\"%c\" dstoff=\"%s\" cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"0\"/>\n", n, kind, src[0], src[1:], dst[0], dst[1:],
		cnt, depID,
		dep)
}

// mscclRing is an in-place all-reduce over a ring of n GPUs, with one thread block each: sums are passed on, then
// results.
func mscclRing(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<algo name=\"ring\" ngpus=\"%d\" nchunksperloop=\"%[1]d\" coll=\"allreduce\" inplace=\"1\">\n", n)
	for g := range n {
		fmt.Fprintf(&b, "<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"0\" s_chunks=\"0\">\n<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", g, n, (g+1)%n, (g+n-1)%n)
		kinds := []string{"s"}
		for k := 1; k < n-1; k++ {
			kinds = append(kinds, "rrs")
		}
		kinds = append(kinds, "rrcs")
		for k := 1; k < n-1; k++ {
			kinds = append(kinds, "rcs")
		}
		for k, kind := range append(kinds, "r") {
			chunk := fmt.Sprint("i", ((g-k)%n+n)%n)
			b.WriteString(mscclStepLine(k, kind, chunk, chunk, 1, -1, -1))
		}
		b.WriteString("</tb>\n</gpu>\n")
	}
	return b.String() + "</algo>\n"
}

// A ring described in MSCCL equals Railyard's ring: as many messages of the same sizes in as many rounds.
func TestMSCCLRing(t *testing.T) {
	for _, n := range []int{3, 4, 8, 13} {
		x, err := Options{Bytes: 1000}.Read(File{"ring.xml", []byte("<!-- a ring -->\n" +
			mscclRing(n))})
		if err != nil {
			t.Fatal(err)
		}
		last, _ := ends(t, x.DAG, unit.Microsecond)
		sizes := map[unit.Bytes]int{}
		for i := range x.DAG.Ops {
			if o := &x.DAG.Ops[i]; !o.Compute() {
				sizes[o.Bytes]++
			}
		}
		want := map[unit.Bytes]int{(1000 + unit.Bytes(n)/2) / unit.Bytes(n): 2 * n * (n - 1)}
		c := x.DAG.Colls[0]
		if last != unit.Time(2*(n-1))*unit.Microsecond || !reflect.DeepEqual(sizes, want) ||
			c.Kind != coll.AllReduce || c.Bytes != 1000 || len(c.Ranks) != n || x.Format != "msccl" {
			t.Errorf("%d GPUs: %v, %v, %+v", n, last, sizes, c)
		}
	}
}

// Steps wait for other thread blocks, copies move chunks within a GPU, scratch is a buffer, and one step may move
// several chunks. The example is an all-to-all of three GPUs through scratch.
func TestMSCCLThreadBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<algo name="a2a" ngpus="3" nchunksperloop="6" coll="alltoall" inplace="0">`)
	for g := range 3 {
		fmt.Fprintf(&b, "<gpu id=\"%d\" i_chunks=\"6\" o_chunks=\"6\" s_chunks=\"6\">\n<tb id=\"7\" send=\"-1\" recv=\"-1\" chan=\"0\">\n", g)
		b.WriteString(mscclStepLine(0, "cpy", "i0", "s0", 6, -1, -1))
		own := fmt.Sprint(2 * g)
		b.WriteString(mscclStepLine(1, "cpy", "s"+own, "o"+own, 2, -1, -1) + "</tb>\n")
		for d := 1; d < 3; d++ {
			to, from := (g+d)%3, (g+3-d)%3
			fmt.Fprintf(&b, "<tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"1\">\n", d, to, from)
			b.WriteString(mscclStepLine(0, "nop", "i-1", "o-1", 0, 7, 1))
			b.WriteString(mscclStepLine(1, "s", fmt.Sprint("s", 2*to), fmt.Sprint("o", 2*g), 2, 7, 0))
			b.WriteString(mscclStepLine(2, "r", "i0", fmt.Sprint("o", 2*from), 2, -1, -1) + "</tb>\n")
		}
		b.WriteString("</gpu>\n")
	}
	x, err := Read("", File{"a.xml", []byte(b.String() + "</algo>")})
	if err != nil {
		t.Fatal(err)
	}
	last, _ := ends(t, x.DAG, unit.Microsecond)
	want := "mapped [all-to-all: every output chunk is correct, checked by name: 1 (first in a.xml) steps of thread blocks: 24 (first in a.xml)], guessed [size of the collective, not set in the file: 8 MiB: 1 (first in a.xml)], left out [time that copying and adding within a GPU takes: 6 (first in a.xml)]"
	if got := words(x.Report); got != want || last != unit.Microsecond {
		t.Errorf("%v %s\nwant %s", last, got, want)
	}
}

// A sender is at most eight messages ahead of its receiver.
func TestMSCCLSlots(t *testing.T) {
	const n = 20
	send, recv := strings.Builder{}, strings.Builder{}
	for k := range n {
		c := fmt.Sprint("i", k)
		send.WriteString(mscclStepLine(k, "s", c, c, 1, -1, -1))
		recv.WriteString(mscclStepLine(k, "r", c, c, 1, -1, -1))
	}
	text := fmt.Sprintf("<algo ngpus=\"2\" nchunksperloop=\"%d\" coll=\"custom\">\n<gpu id=\"0\" i_chunks=\"%[1]d\"><tb id=\"0\" send=\"1\" recv=\"-1\">\n%s</tb></gpu><gpu id=\"1\"><tb id=\"0\" send=\"-1\" recv=\"0\">\n%s</tb></gpu></algo>", n, send.String(), recv.String())
	x, err := Read("msccl", File{"s.xml", []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := ends(t, x.DAG, unit.Microsecond); last != 3*unit.Microsecond { // 8 + 8 + 4
		t.Error(last)
	}
}

func TestBadMSCCL(t *testing.T) {
	ring := mscclRing(3)
	edit := func(old, with string) string {
		if !strings.Contains(ring, old) {
			t.Fatal(old)
		}
		return strings.Replace(ring, old, with, 1)
	}
	hang := edit(`dstoff="0" cnt="1" depid="-1" deps="-1"`, `dstoff="0" cnt="1" depid="0" deps="3"`)
	for text, want := range map[string]string{
		"":                           "b.xml: has no <algo>",
		"<system/>":                  "b.xml:1:1: found <system>, expected <algo> once",
		"<algo name='x'/>":           "b.xml:1:1: <algo> has no ngpus",
		"<algo ngpus='0'/>":          `b.xml:1:1: ngpus of <algo> is "0", expected 1 to 4096`,
		"<algo ngpus='1e9'/>":        `b.xml:1:1: ngpus of <algo> is "1e9", expected 1 to 4096`,
		"<algo ngpus='1000000000'/>": `b.xml:1:1: ngpus of <algo> is "1000000000", expected 1 to 4096`,
		"<algo ngpus='2'/>":          "b.xml: no thread block does anything",
		"<algo ngpus='2'><gpu id='0'/><gpu id='0'/></algo>":              `found <gpu> "0", expected each of 0 to 1 once`,
		"<algo ngpus='2'><tb id='0'/></algo>":                            "a <tb> is in a <gpu>",
		"<algo ngpus='2'><gpu id='0'><tb id='0' send='0'/></gpu></algo>": "GPU 0 exchanges chunks with itself",
		ring[:len(ring)/2]: "XML syntax error",
		edit(`type="rrs"`, `type="rrx"`): `b.xml:5:1: unknown step of type "rrx"; accepted: s, ` +
			`r, rcs`,
		edit(`type="rrs"`, `type="rrc"`):                   "receives from GPU 0 on channel 0, which does not send that many times",
		edit(`send="1"`, `send="-1"`):                      "b.xml:4:1: sends, and its thread block sends to no rank",
		edit(`<step s="1"`, `<step s="2"`):                 "b.xml:5:1: found step 2 of its thread block, expected step 1",
		edit(`srcbuf="i"`, `srcbuf="q"`):                   `b.xml:4:1: srcbuf is "q", expected i, o or s`,
		edit(`cnt="1"`, `cnt="0"`):                         "b.xml:4:1: moves no chunk (cnt 0)",
		edit(`cnt="1"`, `cnt="2"`):                         "receives 1 chunks of the 2 that line 4 sends",
		edit(`cnt="1"`, `cnt="-1"`):                        `cnt of <step> is "-1", expected 0 to 1048576`,
		edit(`srcoff="0"`, `srcoff="-1"`):                  "b.xml:4:1: has no offset of its source or destination",
		edit(`depid="-1" deps="-1"`, `depid="5" deps="0"`): "depends on step 0 of thread block 5, which GPU 0 does not have",
		edit(`coll="allreduce"`, `coll="allgather"`):       "b.xml: is not a valid all-gather: chunk 0 of GPU 0's output ends as",
		edit(`srcoff="0"`, `srcoff="1"`):                   "b.xml: is not a valid all-reduce: chunk 0 of GPU 0's output ends as input 1 of GPU 0 + input 0 of GPU 1 + input 0 of GPU 2 and must be input 0 of GPU 0 + input 0 of",
		hang:                                               "b.xml:24:1: the algorithm hangs: this step is blocked on line 14, which is blocked on line 4, which",
	} {
		if _, err := Read("msccl", File{"b.xml", []byte(text)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v\nwant %s", text, err, want)
		}
	}
}

// Any change of an offset or of a step's kind is detected.
func TestMSCCLChecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 6).Draw(t, "gpus")
		lines := strings.Split(mscclRing(n), "\n")
		var steps []int
		for i, l := range lines {
			if strings.HasPrefix(l, "<step") {
				steps = append(steps, i)
			}
		}
		i := rapid.SampledFrom(steps).Draw(t, "line")
		was := lines[i]
		old := rapid.SampledFrom([]string{`srcoff="`, `dstoff="`, `"rrs"`, `"rcs"`, `"rrcs"`}).Draw(t, "what")
		with := map[string]string{`"rrs"`: `"rcs"`, `"rcs"`: `"rrs"`, `"rrcs"`: `"rrs"`}[old]
		if with == "" {
			with = old + "1"
		}
		lines[i] = strings.Replace(was, old, with, 1)
		kind := strings.Split(was, `"`)[3]
		counts := map[string][]string{`srcoff="`: {"s", "rrs", "rrcs"}, `dstoff="`: {"r", "rcs", "rrcs"},
			`"rrs"`: {"rrs"}, `"rcs"`: {"rcs"}, `"rrcs"`: {"rrcs"}}[old]
		_, err := Read("msccl", File{"m.xml", []byte(strings.Join(lines, "\n"))})
		if slices.Contains(counts, kind) != (err != nil) {
			t.Fatalf("%s\n%s\n%v", was, lines[i], err)
		}
	})
}

// A number is rejected before memory is allocated for it.
func TestMSCCLRefusedForNothing(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Read("msccl", File{"b.xml", []byte("<algo ngpus='1000000000'/>")}); err == nil {
		t.Error("a billion GPUs are taken")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("it took %d bytes", took)
	}
}

// The number of loops of MSCCL's runtime is reported: chunks above 2 MiB take several loops.
func TestMSCCLLoops(t *testing.T) {
	ring := func(proto string) File {
		text := `<algo name="r" ` + proto + ` nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">`
		for gpu := range 2 {
			text += fmt.Sprintf(`<gpu id="%d" i_chunks="2" o_chunks="0" s_chunks="0"><tb id="0" send="%d" `+
				`recv="%[2]d" chan="0">`, gpu, 1-gpu)
			for i, step := range []string{"s", "rrcs", "r"} {
				at := (gpu + i) % 2
				text += fmt.Sprintf(`<step s="%d" type="%s" srcbuf="i" srcoff="%d" dstbuf="i" `+
					`dstoff="%[3]d" cnt="1" depid="-1" deps="-1" hasdep="0"/>`, i, step, at)
			}
			text += "</tb></gpu>"
		}
		return File{"ring.xml", []byte(text + "</algo>")}
	}
	for _, c := range []struct {
		proto string
		bytes unit.Bytes
		loops int
	}{
		{`proto="Simple"`, 4 * unit.MiB, 0}, {`proto="Simple"`, 4*unit.MiB + 2, 2}, {"", 64 * unit.MiB, 16},
		{`proto="LL128"`, 64 * unit.MiB, 0},
	} {
		x, err := Options{Bytes: c.bytes}.Read(ring(c.proto))
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, g := range x.Report.Guessed {
			if strings.HasPrefix(g.What, "loops over 2 MiB of each chunk") {
				told = g.N
			}
		}
		if told != c.loops {
			t.Errorf("%s, %v: %d loops are told, expected %d", c.proto, c.bytes, told, c.loops)
		}
	}
}
