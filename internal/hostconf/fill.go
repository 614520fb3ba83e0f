package hostconf

import "railyard/internal/swconf"

// fill copies settings that a NIC does not have from another one.
func fill(to, from *swconf.HostNIC) {
	if to.Kind == "" {
		to.Kind = from.Kind
	}
	one(&to.Trust, from.Trust)
	each(to.DSCP[:], from.DSCP[:])
	each(to.TC[:], from.TC[:])
	each(to.Sched[:], from.Sched[:])
	each(to.Share[:], from.Share[:])
	each(to.Limit[:], from.Limit[:])
	each(to.PFC[:], from.PFC[:])
	each(to.Buffer[:], from.Buffer[:])
	each(to.Size[:], from.Size[:])
	one(&to.Cable, from.Cable)
	one(&to.DCBX, from.DCBX)
	one(&to.Willing, from.Willing)
	each(to.NP[:], from.NP[:])
	each(to.RP[:], from.RP[:])
	one(&to.CC, from.CC)
	one(&to.Marking, from.Marking)
	one(&to.CNPDSCP, from.CNPDSCP)
	one(&to.CNPPrio, from.CNPPrio)
	one(&to.ToS, from.ToS)
	one(&to.Class, from.Class)
	one(&to.Data, from.Data)
	one(&to.Prio, from.Prio)
	one(&to.Mode, from.Mode)
	one(&to.MTU, from.MTU)
	one(&to.PathMTU, from.PathMTU)
	one(&to.Pause, from.Pause)
	one(&to.FEC, from.FEC)
	one(&to.Nego, from.Nego)
	if len(to.GIDs) == 0 {
		to.GIDs = from.GIDs
	}
	for _, p := range from.Params {
		if _, ok := to.Param(p.Name); !ok {
			to.Params = append(to.Params, p)
		}
	}
}

func one[T any](to *swconf.Said[T], from swconf.Said[T]) {
	if !to.Is() {
		*to = from
	}
}

func each[T any](to, from []swconf.Said[T]) {
	for i := range to {
		one(&to[i], from[i])
	}
}
