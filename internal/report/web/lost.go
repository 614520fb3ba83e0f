package web

import (
	"slices"

	"railyard/internal/report"
	"railyard/internal/result"
)

// lost adds the step's losses to causes, as the terminal prints them.
func (a *Answer) lost(s *result.Summary) {
	if a.AtBound = report.AtBound(s); !a.AtBound {
		a.Main = report.MainCause(s)
	}
	if a.Idle = report.Idle(s); s.Chain == nil {
		return
	}
	account, _ := report.Account(s)
	a.Bound, a.Lost = report.Bound(s), account.Lost()
	a.Left, a.Gain = report.Gain(s)
	a.Reason = report.Reason(s)
	rows, below := report.Losses(s)
	a.Rows, a.Below = lossRows(rows), lossRows(below)
	for _, id := range report.Ranked(s, account) {
		c := id.Get()
		x := StepLoss{CauseInfo: CauseInfo{c.Key, c.Name, c.Color, c.About}, Own: account.Own[id],
			Reaction: account.Reaction[id], Saving: account.Saving[id]}
		of := func(r result.Remedy) bool { return r.Cause == c.Key && !r.Refuted }
		if i := slices.IndexFunc(s.Remedies, of); i >= 0 {
			x.Remedy = &s.Remedies[i]
		}
		if slices.ContainsFunc(rows, func(r report.Loss) bool { return r.Cause == id }) {
			a.Losses = append(a.Losses, x)
		} else {
			a.Minor = append(a.Minor, x)
		}
	}
}

func lossRows(all []report.Loss) (rows []LossRow) {
	for _, x := range all {
		rows = append(rows, LossRow{x.Cause.Get().Key, x.After, x.Name, x.Time, x.Saves})
	}
	return rows
}
