package web

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"railyard/internal/capture"
	"railyard/internal/result"
	"railyard/roce"
)

// captureFile is the name of a run's capture.
const captureFile = "capture.pcapng"

// kept is the number of packets shown before a searched one.
const kept = 8

// wanted is a part of a capture: packets of the filter from a time on, or around the next one of a kind.
type wanted struct {
	from   int64 // ps
	skip   int64
	filter []string
	jump   string // kind of the searched packet
	after  int64  // the number of the packet before
}

func wantedOf(q url.Values) (w wanted, err error) {
	if w.skip, err = number(q, "skip", 0, 0, 1<<40); err != nil {
		return w, err
	}
	if w.from, err = number(q, "from", 0, 0, math.MaxInt64); err != nil {
		return w, err
	}
	if w.after, err = number(q, "after", 0, 0, 1<<40); err != nil {
		return w, err
	}
	w.filter, w.jump = strings.Fields(strings.ToLower(q.Get("filter"))), q.Get("jump")
	if len(w.filter) > 20 {
		return w, &InputError{"the filter has more than 20 words"}
	}
	return w, nil
}

// packets decodes a part of the capture of a run.
func (r *Directory) packets(q url.Values) (any, error) {
	w, err := wantedOf(q)
	if err != nil {
		return nil, err
	}
	in, err := capture.Open(filepath.Join(r.Dir, captureFile))
	if errors.Is(err, os.ErrNotExist) {
		return Packets{Packets: []Packet{}, Missing: "No port of this run was captured."}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	in.Comments = true
	out := Packets{Packets: []Packet{}, Skip: w.skip}
	type key struct {
		at, from, kind string
		qp, psn        uint32
	}
	seen := map[key]bool{}
	var p capture.Packet
	for n := int64(0); ; {
		if err := in.Next(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if p.At.UnixNano() < w.from/1000 {
			continue
		}
		x := brief(&p)
		r.place(&x, p.Raw)
		k := key{x.Sender, x.From, x.Kind, x.QP, x.PSN}
		op := p.Frame.BTH.Opcode // answers and CNPs have the PSN of another packet, or none
		x.Again = seen[k] && x.From != "" && op != roce.Acknowledge && op != roce.CNP
		if x.Said != "" {
			x.Again = strings.Contains(x.Said, ", again")
		}
		seen[k] = true
		if !x.matches(w.filter) {
			continue
		}
		if n++; w.jump != "" && out.Found == 0 {
			if x.Number > w.after && x.is(w.jump) {
				out.Found = x.Number
			} else if len(out.Packets) >= kept { // packets before the searched one leave the list
				out.Packets = append(out.Packets[:0], out.Packets[1:]...)
				out.Skip++
			}
		} else if w.jump == "" && n <= w.skip {
			continue
		}
		if out.More = len(out.Packets) >= maxPackets; out.More {
			break
		}
		spell(&x, &p)
		out.Packets = append(out.Packets, x)
	}
	if w.jump != "" && out.Found == 0 {
		return Packets{Packets: []Packet{}, Skip: w.skip}, nil
	}
	return out, nil
}

// is reports whether a packet is of a kind that can be searched.
func (x *Packet) is(kind string) bool {
	switch kind {
	case "nak", "pause", "cnp":
		return strings.Contains(strings.ToLower(x.Kind), kind)
	case "mark":
		return x.CE
	case "again":
		return x.Again
	}
	return false
}

// matches reports whether a packet has each word of a filter: qp=N (the run's), qpn=N, psn=N, psn>N, psn<N, a
// searchable kind, or a part of its kind and ends.
func (x *Packet) matches(filter []string) bool {
	for _, w := range filter {
		if !x.has(w) {
			return false
		}
	}
	return true
}

func (x *Packet) has(word string) bool {
	if not, ok := strings.CutPrefix(word, "!"); ok && not != "" {
		return !x.has(not)
	}
	if i := strings.IndexAny(word, "=<>"); i > 0 {
		of, known := map[string]int64{"qp": x.conn, "qpn": int64(x.QP), "psn": int64(x.PSN), "no": x.Number,
			"len": int64(x.Bytes)}[word[:i]]
		if n, err := strconv.ParseInt(strings.TrimPrefix(word[i+1:], "0x"), base(word[i+1:]), 64); known && err == nil {
			return word[i] == '=' && of == n || word[i] == '<' && of < n || word[i] == '>' && of > n
		}
	}
	switch word {
	case "nak", "pause", "cnp", "mark", "again":
		return x.is(word)
	}
	return contains([]string{word}, x.Kind, x.From, x.To, x.Sender, x.Peer)
}

func base(number string) int {
	if strings.HasPrefix(number, "0x") {
		return 16
	}
	return 10
}

// pcapng sends the capture of a run as a file.
func (s *Server) pcapng(w http.ResponseWriter, q *http.Request) {
	r, err := s.run(q.PathValue("run"))
	if err != nil {
		send(w, nil, err)
		return
	}
	f, err := os.Open(filepath.Join(r.Dir, captureFile)) // no link: run has refused those
	if errors.Is(err, os.ErrNotExist) {
		err = &InputError{fmt.Sprintf("no port of %s was captured", r.Name)}
	}
	if err != nil {
		send(w, nil, err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", safe.ReplaceAllString(r.Name, "-")+".pcapng"))
	io.Copy(w, f)
}

// followed are the packets that the run followed.
func (r *Directory) followed() (any, error) {
	all, err := result.ReadFollowed(r.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return Journeys{}, nil
	}
	if err != nil {
		return nil, r.broken(result.FollowedFile, err)
	}
	for _, f := range all {
		for _, c := range f.Copies {
			for _, h := range c.Hops {
				if h.Port < 0 || int(h.Port) >= len(r.ports) {
					return nil, r.broken(result.FollowedFile,
						fmt.Errorf("packet %s was at port %d, which does not exist", f.Asked, h.Port))
				}
			}
		}
	}
	return Journeys{all}, nil
}
