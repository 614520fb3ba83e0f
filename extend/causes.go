package extend

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/unit"
)

// Types for causes: the observations of a message, of a link on its path, and of a link in general.
type (
	Message = cause.Message
	Hop     = cause.Hop
	Cable   = cause.Cable
)

// Edit is a change of a resolved scenario that no setting makes for all fabrics and transports, for Change.Edits.
type Edit = cause.Edit

// The edits.
const (
	NoDelay        = cause.NoDelay
	FastReceivers  = cause.FastReceivers
	FastFabric     = cause.FastFabric
	NoBitErrors    = cause.NoBitErrors
	NoPCIe         = cause.NoPCIe
	NoLimits       = cause.NoLimits
	NoFailures     = cause.NoFailures
	NoSlowdowns    = cause.NoSlowdowns
	NoStorms       = cause.NoStorms
	NoReorderLimit = cause.NoReorderLimit
	NoHostTime     = cause.NoHostTime
	EvenRanks      = cause.EvenRanks
)

// Cause is a cause of lost time. It divides the time of one of Railyard's causes further. It claims a part of that
// cause's time in each message and receives at most what is left, so that shares add up to the time.
type Cause struct {
	Key   string // in summary.json (with _ps) and causes.parquet: a to z, digits and _
	Name  string // noun, in sentences
	About string // description in one sentence without a full stop
	Color string // #rrggbb, of the page and of plots
	From  string // key of the cause whose time it claims, such as latency
	// Claim returns the time that a message lost to the cause, from 0 to the message's duration, and the hop of the
	// loss, -1 for none. It must be a pure function of its arguments. A step and a collective have the sum over their
	// chain of messages.
	Claim func(f *Facts, m *Message) (lost unit.Time, hop int)
	// Evidence describes a message's loss, for a message with a claim; nil: name and place.
	Evidence func(m *Message, hop int) string
	// Without returns how a run without the cause is made; nil: no run is.
	Without func(f *Facts) Change
	// Remedies lists changes for an operator, the most promising first; nil: none.
	Remedies func(f *Facts) []Change
	Advice   string // remedy if no listed one fits: an imperative
}

var (
	keyForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	colorForm = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

// AddCause adds a cause of lost time.
func AddCause(c *Cause) {
	_, known := cause.Find(c.Key)
	enter(&added.Causes, "cause", c.Key, known)
	if fault := c.fault(); fault != "" {
		panic("extend: cause " + c.Key + " " + fault)
	}
	from, _ := cause.Find(c.From)
	own := &cause.Cause{Key: c.Key, Name: c.Name, About: c.About, Color: c.Color, Advice: c.Advice, From: from.ID,
		Claim: c.Claim, Evidence: c.Evidence, Without: c.Without, Remedies: c.Remedies}
	if own.Without == nil {
		own.Without = func(*Facts) Change { return Change{Impossible: "no run is without " + c.Name} }
	}
	if own.Remedies == nil {
		own.Remedies = func(*Facts) []Change { return nil }
	}
	cause.Add(own)
}

// fault returns the error in a cause, or "".
func (c *Cause) fault() string {
	same := func(is func(o *cause.Cause) bool) bool { return slices.ContainsFunc(cause.All(), is) }
	from, ok := cause.Find(c.From)
	switch {
	case !keyForm.MatchString(c.Key), strings.HasSuffix(c.Key, "_ps"), strings.HasSuffix(c.Key, "_reaction"),
		strings.HasSuffix(c.Key, "_saving"):
		return "has a key that summary.json cannot have: expected a to z, digits and _, no end in _ps, _reaction, _saving"
	case c.Name == "":
		return "has no Name"
	case same(func(o *cause.Cause) bool { return o.Name == c.Name }):
		return fmt.Sprintf("has the name of another cause, %q", c.Name)
	case c.About == "":
		return "has no About"
	case !colorForm.MatchString(c.Color):
		return fmt.Sprintf("has the color %q, expected #rrggbb", c.Color)
	case same(func(o *cause.Cause) bool { return o.Color == c.Color }):
		return "has the color of another cause, " + c.Color
	case !ok || from.Outside():
		return fmt.Sprintf("claims time from %q, expected the key of a cause of Railyard, such as latency", c.From)
	case c.Claim == nil:
		return "has no Claim"
	case len(cause.FromOutside()) == cause.Room:
		return fmt.Sprintf("is one too many: extensions add at most %d causes", cause.Room)
	}
	return ""
}
