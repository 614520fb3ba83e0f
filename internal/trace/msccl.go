package trace

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/unit"
)

// MSCCL's algorithms (microsoft/msccl-tools, and its runtimes) are XML files. For each GPU a file lists the steps
// of its thread blocks, with chunks of three buffers, input, output and scratch:
//
//	<algo name="ring" ngpus="8" coll="allreduce" nchunksperloop="8" inplace="1">
//	  <gpu id="0" i_chunks="8" o_chunks="0" s_chunks="0">
//	    <tb id="0" send="1" recv="7" chan="0">
//	      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1"/>
//
// Steps: s sends, r receives; rcs, rrs, rrc, rrcs receive, add their source (second r), keep the result (c) and
// send it on (last s); cpy and re copy and add within the GPU; nop only waits. A step waits for the previous one,
// and for step deps of thread block depid.

// mscclStep is one step.
type mscclStep struct {
	line             int32
	tb               int32 // place in msccl.tbs
	srcOff, dstOff   int32
	cnt              int32
	depID, dep       int32 // -1: none
	src, dst         byte  // i, o, s
	recv, add, keeps bool
	send             bool
	local            bool
}

// mscclTB is a thread block: its steps in order, and its peers.
type mscclTB struct {
	gpu, id, send, recv, channel int32 // -1: nobody
	first, n                     int32 // its steps
	line                         int32
}

// msccl is an algorithm.
type msccl struct {
	file, name   string
	proto        string
	gpus, chunks int
	kind         coll.Kind
	known        bool // whether the collective is known
	aliased      bool // input and output are one buffer
	inChunks     []int
	outChunks    []int
	tbs          []mscclTB
	steps        []mscclStep
	report       Report
}

// mscclTypes describes each type of step.
var mscclTypes = map[string]mscclStep{
	"s": {send: true}, "r": {recv: true, keeps: true}, "rcs": {recv: true, keeps: true, send: true},
	"rrs": {recv: true, add: true, send: true}, "rrc": {recv: true, add: true, keeps: true},
	"rrcs": {recv: true, add: true, keeps: true, send: true}, "cpy": {local: true, keeps: true},
	"re": {local: true, add: true, keeps: true}, "nop": {},
}

// mscclKinds are the collectives that MSCCL has by name.
var mscclKinds = map[string]coll.Kind{"allreduce": coll.AllReduce, "allgather": coll.AllGather,
	"reduce_scatter": coll.ReduceScatter, "reducescatter": coll.ReduceScatter, "alltoall": coll.ToAll,
	"broadcast": coll.Bcast}

// Limits of an algorithm.
const (
	mscclGPUs  = 4096
	mscclSteps = 2_000_000
	mscclOff   = 1 << 20
)

// isMSCCL recognizes an algorithm by its root element.
func isMSCCL(_ string, head []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(head))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if e, ok := token.(xml.StartElement); ok {
			return e.Name.Local == "algo"
		}
	}
}

// mscclWords are an element's attributes.
type mscclWords struct {
	m    *msccl
	line int
	name string
	all  map[string]string
	err  error
}

// number parses an attribute; usual is the default.
func (w *mscclWords) number(key string, usual, least, most int) int {
	word, has := w.all[key]
	if !has {
		return usual
	}
	x, err := strconv.Atoi(word)
	if err == nil && x >= least && x <= most {
		return x
	}
	if w.err == nil {
		w.err = at(w.m.file, w.line, "%s of <%s> is %s, expected %d to %d", key, w.name, field.Quote(word),
			least, most)
	}
	return usual // an invalid number is not used
}

// readMSCCL reads an algorithm. Its file has a buffer's number of chunks, not of bytes; Options.Bytes sets the
// bytes.
func readMSCCL(o *Options, files []File) (*Trace, error) {
	if len(files) != 1 {
		return nil, at(files[1].Name, 0, "an algorithm of MSCCL is one file; found %d", len(files))
	}
	m := &msccl{file: files[0].Name}
	if err := m.parse(files[0].Text); err != nil {
		return nil, err
	}
	if len(m.steps) == 0 {
		return nil, at(m.file, 0, "no thread block does anything")
	}
	size := o.Bytes
	if size == 0 {
		size = unit.Bytes(8 * unit.MiB)
		note(&m.report.Guessed, "size of the collective, not set in the file: 8 MiB", m.file, 0)
	}
	return m.trace(size)
}

// parse reads the elements.
func (m *msccl) parse(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	seen := map[[2]int32]int32{} // GPU and thread block: its position
	gpu := int32(-1)
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF):
			if m.gpus == 0 {
				return at(m.file, 0, "has no <algo>")
			}
			return nil
		case err != nil:
			return at(m.file, line, "%v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			w := &mscclWords{m: m, line: line, name: e.Name.Local, all: map[string]string{}}
			for _, a := range e.Attr {
				w.all[a.Name.Local] = a.Value
			}
			if gpu, err = m.element(w, gpu, seen); err == nil {
				err = w.err
			}
			if err != nil {
				return err
			}
		}
	}
}

// element parses one, within a GPU.
func (m *msccl) element(w *mscclWords, gpu int32, seen map[[2]int32]int32) (int32, error) {
	if (w.name == "algo") == (m.gpus > 0) {
		return gpu, at(m.file, w.line, "found <%s>, expected <algo> once, around everything", w.name)
	}
	switch w.name {
	case "algo":
		m.name, m.gpus = w.all["name"], max(1, w.number("ngpus", 0, 1, mscclGPUs))
		if _, has := w.all["ngpus"]; !has {
			return gpu, at(m.file, w.line, "<algo> has no ngpus")
		}
		m.proto = w.all["proto"]
		m.chunks = w.number("nchunksperloop", 0, 1, mscclOff)
		m.kind, m.known = mscclKinds[w.all["coll"]]
		m.aliased = w.all["inplace"] == "1" && w.all["outofplace"] != "1"
		m.inChunks, m.outChunks = make([]int, m.gpus), make([]int, m.gpus)
		for g := range m.inChunks {
			m.inChunks[g] = -1
		}
		if !m.known {
			m.kind = coll.SendRecv
			note(&m.report.Guessed, "an unknown collective, whose result is not checked",
				m.file, w.line)
		}
	case "gpu":
		gpu = int32(w.number("id", -1, 0, m.gpus-1))
		if gpu < 0 || w.err != nil || m.inChunks[gpu] >= 0 {
			return gpu, at(m.file, w.line, "found <gpu> %s, expected each of 0 to %d once",
				field.Quote(w.all["id"]), m.gpus-1)
		}
		m.inChunks[gpu] = w.number("i_chunks", 0, 0, mscclOff)
		m.outChunks[gpu] = w.number("o_chunks", 0, 0, mscclOff)
	case "tb":
		if gpu < 0 {
			return gpu, at(m.file, w.line, "a <tb> is in a <gpu>")
		}
		x := mscclTB{gpu: gpu, id: int32(w.number("id", -1, 0, 1<<16)), line: int32(w.line),
			send: int32(w.number("send", -1, -1, m.gpus-1)), recv: int32(w.number("recv", -1, -1, m.gpus-1)),
			channel: int32(w.number("chan", 0, -1, 1<<16)), first: int32(len(m.steps))}
		key := [2]int32{gpu, x.id}
		if _, twice := seen[key]; twice || x.id < 0 {
			return gpu, at(m.file, w.line, "thread block %s of GPU %d has no number, or one that is repeated",
				field.Quote(w.all["id"]), gpu)
		}
		if x.send == gpu || x.recv == gpu {
			return gpu, at(m.file, w.line, "GPU %d exchanges chunks with itself", gpu)
		}
		seen[key] = int32(len(m.tbs))
		m.tbs = append(m.tbs, x)
	case "step", "op":
		return gpu, m.step(w)
	default:
		note(&m.report.Left, "elements <"+w.name+">", m.file, w.line)
	}
	return gpu, nil
}

// step parses one, within the last thread block.
func (m *msccl) step(w *mscclWords) error {
	if len(m.tbs) == 0 {
		return at(m.file, w.line, "a <step> is in a <tb>")
	}
	tb := &m.tbs[len(m.tbs)-1]
	x, known := mscclTypes[w.all["type"]]
	if !known {
		return at(m.file, w.line, "unknown step of type %s; accepted: s, r, rcs, rrs, rrc, rrcs, cpy, re, nop",
			field.Quote(w.all["type"]))
	}
	if len(m.steps) == mscclSteps {
		return at(m.file, w.line, "has more than %d steps", mscclSteps)
	}
	x.line, x.tb = int32(w.line), int32(len(m.tbs)-1)
	x.cnt = int32(w.number("cnt", 1, 0, mscclOff))
	x.depID, x.dep = int32(w.number("depid", -1, -1, 1<<16)), int32(w.number("deps", -1, -1, mscclSteps))
	x.srcOff, x.dstOff = int32(w.number("srcoff", -1, -1, mscclOff)), int32(w.number("dstoff", -1, -1, mscclOff))
	x.src, x.dst = 'i', 'o'
	for _, buf := range []struct {
		key string
		to  *byte
	}{{"srcbuf", &x.src}, {"dstbuf", &x.dst}} {
		switch word := w.all[buf.key]; word {
		case "":
		case "i", "o", "s":
			*buf.to = word[0]
		default:
			return at(m.file, w.line, "%s is %s, expected i, o or s", buf.key, field.Quote(word))
		}
	}
	if buf, has := w.all["buf"]; has { // the short form has only the relevant buffer
		if x.src = 0; len(buf) == 1 {
			x.src = buf[0]
		}
		x.dst, x.srcOff = x.src, int32(w.number("off", -1, -1, mscclOff))
		x.dstOff = x.srcOff
	}
	n := w.number("s", w.number("step", int(tb.n), 0, mscclSteps), 0, mscclSteps)
	switch {
	case w.err != nil:
		return w.err
	case int32(n) != tb.n:
		return at(m.file, w.line, "found step %d of its thread block, expected step %d", n, tb.n)
	case x.send && tb.send < 0:
		return at(m.file, w.line, "sends, and its thread block sends to no rank")
	case x.recv && tb.recv < 0:
		return at(m.file, w.line, "receives, and its thread block receives from no rank")
	case (x.recv || x.send || x.local) && x.cnt == 0:
		return at(m.file, w.line, "moves no chunk (cnt 0)")
	case x.send && !x.recv && x.srcOff < 0 || x.local && (x.srcOff < 0 || x.dstOff < 0) ||
		x.recv && x.keeps && x.dstOff < 0 || x.recv && x.add && x.srcOff < 0:
		return at(m.file, w.line, "has no offset of its source or destination")
	}
	tb.n++
	m.steps = append(m.steps, x)
	return nil
}
