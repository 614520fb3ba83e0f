package web

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// Messages are a run's selectable messages, the slowest first.
type Messages struct {
	Messages []Message `json:"messages"`
	Count    int       `json:"count"` // of the matching ones
	MTU      int64     `json:"mtu_bytes"`
}

// Message is a message and its packets.
type Message struct {
	result.FlowRow
	First   int64 `json:"first_packet"` // packets of the queue pair before it
	Packets int64 `json:"packets"`
	// Earlier counts the earlier messages of the queue pair that were not complete when it was posted. Behind is
	// the time until the last of them was.
	Earlier int   `json:"earlier"`
	Behind  int64 `json:"behind_ps"`
	// Causes are the parts of its time after those; absent unless it is one of those that lost most.
	Causes *cause.Account `json:"causes,omitempty"`
	// Parts sum up to its time: what its ideal has, then what is above; none of an incomplete message.
	Parts []MessagePart `json:"parts"`
	// Leading is the key of the leading cause of time above its ideal, and Why says what that time is.
	Leading string `json:"leading,omitempty"`
	Why     string `json:"why,omitempty"`
}

// mtu is the payload of a full packet.
func (r *Directory) mtu() int64 {
	if n, err := strconv.ParseInt(r.Manifest.Resolved["transport.mtu"], 10, 64); err == nil && n > 0 {
		return n
	}
	return 4096
}

// messages lists messages by queue pair, by words of their ends and class, and by a window of time.
func (r *Directory) messages(q url.Values) (any, error) {
	qp, err := number(q, "qp", -1, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	one, err := number(q, "message", -1, 0, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	rows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(q.Get("text")))
	list := []Message{}
	for i := range rows {
		m := &rows[i]
		end := m.Done
		if end < 0 {
			end = math.MaxInt64
		}
		if qp >= 0 && int64(m.QP) != qp || one >= 0 && m.Message != one || m.Posted > to || end < from ||
			!contains(words, m.From, m.To, m.Class, m.Job) {
			continue
		}
		list = append(list, Message{FlowRow: *m})
	}
	slices.SortStableFunc(list, func(a, b Message) int { return cmp.Compare(b.lost(), a.lost()) })
	out := Messages{list[:min(len(list), maxList)], len(list), r.mtu()}
	r.number(out.Messages, rows)
	return out, r.divide(out.Messages)
}

// divide adds the accounts of messages.
func (r *Directory) divide(list []Message) error {
	at, err := r.messageAccounts()
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Causes = at[list[i].FlowRow.Message]
		list[i].explain(r.Summary.Slowest)
	}
	return nil
}

// messageAccounts returns the accounts of the messages that lost most, by number.
func (r *Directory) messageAccounts() (map[int64]*cause.Account, error) {
	parts, err := table[result.CauseRow](r, "causes")
	if err != nil {
		return nil, err
	}
	at := map[int64]*cause.Account{}
	for i := range parts {
		p := &parts[i]
		c, known := cause.Find(p.Cause)
		if p.Scope != result.OfMessage || !known {
			continue
		}
		a := at[int64(p.Instance)]
		if a == nil {
			a = &cause.Account{}
			at[int64(p.Instance)] = a
		}
		a.Own[c.ID], a.Reaction[c.ID], a.Saving[c.ID] = p.Time, p.Reaction, p.Saving
	}
	return at, nil
}

// lost is the time of a message beyond its ideal time.
func (m *Message) lost() int64 {
	if m.Done < 0 {
		return math.MaxInt64
	}
	return m.Done - m.Posted - m.Ideal
}

// contains reports whether each word is in one of some strings.
func contains(words []string, texts ...string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), w) }) {
			return false
		}
	}
	return true
}

// number counts the packets of messages, and those of their queue pairs before them. A queue pair sends messages in
// the order of posting.
func (r *Directory) number(list []Message, rows []result.FlowRow) {
	mtu := r.mtu()
	packets := func(m *result.FlowRow) int64 { return max(1, (m.Bytes+mtu-1)/mtu) }
	byQP := map[int32][]*Message{}
	for i := range list {
		m := &list[i]
		m.Packets = packets(&m.FlowRow)
		byQP[m.QP] = append(byQP[m.QP], m)
	}
	for i := range rows {
		x := &rows[i]
		for _, m := range byQP[x.QP] {
			if x.Posted < m.Posted || x.Posted == m.Posted && x.Message < m.Message {
				m.First += packets(x)
				if end := min(x.Done, m.Done); end > m.Posted {
					m.Earlier, m.Behind = m.Earlier+1, max(m.Behind, end-m.Posted)
				}
			}
		}
	}
}
