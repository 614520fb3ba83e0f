package verbs

import (
	"context"
	"testing"
)

// BenchmarkWrite measures the throughput of one queue pair over loopback, by RC and by MRC, in one process: 64
// WRITEs of 64 KiB in flight.
func BenchmarkWrite(b *testing.B) {
	const size, depth = 64 << 10, 64
	for _, transport := range Transports() {
		b.Run(transport, func(b *testing.B) {
			make := newNode
			if transport == MRC {
				make = mrcNode
			}
			from, to := make(b, nil), make(b, nil)
			pairUp(b, from, to, patient())
			wr := SendWR{SGList: []SGE{from.mr.SGE(0, size)}, RemoteAddr: to.mr.Addr, RKey: to.mr.RKey}
			b.SetBytes(size)
			b.ResetTimer()
			posted, done := 0, 0
			var wc [64]WC
			for done < b.N {
				for ; posted < b.N && posted-done < depth; posted++ {
					if err := from.qp.PostSend(&wr); err != nil {
						b.Fatal(err)
					}
				}
				n, err := from.cq.Wait(context.Background(), wc[:])
				if err != nil {
					b.Fatal(err)
				}
				for _, w := range wc[:n] {
					if w.Status != StatusSuccess {
						b.Fatal(w.Status)
					}
				}
				done += n
			}
		})
	}
}
