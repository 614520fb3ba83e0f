package verbs

import (
	"fmt"
	"strings"

	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// State is the state of a queue pair.
type State = rc.State

// States.
const (
	Reset = rc.Reset
	Init  = rc.Init
	RTR   = rc.ReadyToReceive
	RTS   = rc.ReadyToSend
	SQD   = rc.SendQueueDrain
	Err   = rc.Error
)

// step lists the required and the optional attributes of a change of state.
type step struct{ needs, takes Attr }

// anywhere are the attributes of a connected queue pair that need no quiet.
const anywhere = AttrAccess | AttrMinRNRTimer | AttrInFlight

// steps are the existing changes of state (IBTA 10.3.1, table 91, and man ibv_modify_qp), with the attributes that
// libibverbs and the kernel accept for RC.
var steps = map[[2]State]step{
	{Reset, Reset}: {}, {Reset, Init}: {needs: AttrAccess},
	{Init, Reset}: {}, {Init, Err}: {}, {Init, Init}: {takes: AttrAccess},
	{Init, RTR}: {AttrAddr | AttrPathMTU | AttrDestQPN | AttrRQPSN | AttrMaxDestReads | AttrMinRNRTimer,
		AttrAccess},
	{RTR, Reset}: {}, {RTR, Err}: {},
	{RTR, RTS}: {AttrTimeout | AttrRetryCount | AttrRNRRetry | AttrSQPSN | AttrMaxReads,
		AttrCurState | anywhere},
	{RTS, Reset}: {}, {RTS, Err}: {}, {RTS, RTS}: {takes: AttrCurState | anywhere},
	{RTS, SQD}:   {takes: AttrSQDNotify},
	{SQD, Reset}: {}, {SQD, Err}: {}, {SQD, RTS}: {takes: AttrCurState | anywhere},
	{SQD, SQD}: {takes: anywhere | AttrAddr | AttrTimeout | AttrRetryCount | AttrRNRRetry | AttrMaxReads |
		AttrMaxDestReads},
	{Err, Reset}: {}, {Err, Err}: {},
}

// Modify changes the attributes that mask names, and with AttrState the state. Without a mask it moves to a.State
// with the attributes that this transition requires, and with nonzero optional ones. Other attributes do not
// change. A refused step changes nothing.
func (qp *QP) Modify(a QPAttr, mask ...Attr) error {
	m := Attr(0)
	for _, bits := range mask {
		m |= bits
	}
	err := qp.modify(&a, m, len(mask) == 0)
	if err != nil {
		return fmt.Errorf("modifying queue pair %#x: %w", qp.QPN, err)
	}
	return nil
}

// modify opens the source ports that a step needs, takes the step, and closes unused ports.
func (qp *QP) modify(a *QPAttr, m Attr, open bool) (err error) {
	d := qp.pd.dev.dev
	var ports, old []uint16
	qp.do(func(*rcudp.Endpoint) { err = qp.check(a, &m, open) })
	if err != nil {
		return err
	}
	if m&AttrAddr != 0 {
		if ports, err = qp.ports(a.Entropy); err != nil {
			return err
		}
	}
	d.Do(func(e *rcudp.Endpoint, now unit.Time) {
		if err = qp.check(a, &m, false); err == nil { // another call may have changed the state meanwhile
			err = qp.take(now, a, m)
		}
		if err == nil && a.State == Reset {
			e.Silence(qp.conn)
		}
		switch to := qp.conn.QP.State(); {
		case err != nil:
			old = ports
		case m&AttrAddr != 0:
			old, qp.conn.Ports = qp.conn.Ports, ports
		case to == Reset:
			old, qp.conn.Ports = qp.conn.Ports, nil
		}
		if err == nil && qp.mrc != nil && (a.State == RTR || a.State == RTS) {
			if err = qp.multipath(e, a); err != nil {
				_ = qp.conn.Modify(Err, 0)
			}
		}
	})
	d.Release(qp.owned(old))
	return err
}

// check returns the error of a step. With open the mask becomes the transition's required attributes, and the
// optional ones that a has.
func (qp *QP) check(a *QPAttr, m *Attr, open bool) error {
	if err := qp.alive(); err != nil {
		return err
	}
	from := qp.conn.QP.State()
	if open {
		*m = AttrState
	}
	if *m&AttrState == 0 {
		a.State = from
	}
	s, legal := steps[[2]State{from, a.State}]
	if !legal {
		return fmt.Errorf("%v to %v: from %v the next state is %s", from, a.State, from, nextStates(from))
	}
	if open {
		*m |= s.needs | a.given()&s.takes
	}
	if more := *m &^ (s.needs | s.takes | AttrState); more != 0 {
		return fmt.Errorf("%v to %v does not take %v; it takes %v", from, a.State, more, s.needs|s.takes)
	}
	if less := s.needs &^ *m; less != 0 {
		return fmt.Errorf("%v to %v also needs %v", from, a.State, less)
	}
	if *m&AttrCurState != 0 && a.CurState != from {
		return fmt.Errorf("it is in %v, not in %v", from, a.CurState)
	}
	if from == SQD && a.State == SQD && *m&^AttrState != 0 && !qp.conn.QP.Drained() {
		return fmt.Errorf("its send queue still drains: %v may change when it has", *m&^AttrState)
	}
	return a.check(*m, qp.pd.dev.Addr().Is4())
}

func nextStates(from State) string {
	var out []string
	for to := Reset; to <= Err; to++ {
		if _, ok := steps[[2]State{from, to}]; ok {
			out = append(out, to.String())
		}
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}

// take applies a checked transition.
func (qp *QP) take(now unit.Time, a *QPAttr, m Attr) error {
	c, from := qp.conn, qp.conn.QP.State()
	attr, cfg := qp.attr, *qp.cfg
	if attr.set(a, m); a.State == Reset {
		attr, cfg = QPAttr{}, *qp.pd.dev.transport(qp.init.Selective)
	}
	attr.into(&cfg, m)
	if err := cfg.Validate(); err != nil {
		return err
	}
	psn := a.SQPSN
	if a.State == RTR {
		psn = a.RQPSN
	}
	old := *qp.cfg
	*qp.cfg = cfg // first, because the step's packets are sent under it
	if err := c.Modify(a.State, psn); err != nil {
		*qp.cfg = old
		return err
	}
	if qp.attr = attr; m&AttrAddr != 0 {
		c.SetPeer(attr.DestAddr)
	}
	if m&AttrDestQPN != 0 {
		c.DestQPN = attr.DestQPN
	}
	if m&AttrInFlight != 0 {
		c.SetInFlight(attr.InFlight)
	}
	switch {
	case a.State == RTR && qp.mrc == nil: // the path is known
		c.SetController(now, qp.pd.dev.controller(qp.cfg))
	case a.State == SQD && from == RTS:
		qp.drain = m&AttrSQDNotify != 0 && a.SQDNotify
		qp.drained()
	case a.State == Reset:
		d := qp.pd.dev
		qp.sends, qp.recvs, qp.told, qp.drain, qp.piece = nil, 0, false, false, readPiece
		qp.psn = random(nil, roce.PSNMask) // IBTA 9.7.1 requires a PSN that old packets do not match
		c.Restart(now, nil, d.cfg.InFlight)
	}
	return nil
}
