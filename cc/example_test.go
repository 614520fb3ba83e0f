package cc_test

import (
	"fmt"

	"railyard/cc"
	"railyard/unit"
)

// A NIC passes its inputs to a controller and acts on the decision.
func Example() {
	line := 100 * unit.Gbps
	params := cc.DCQCNPaper(line)
	var ctl cc.Controller = cc.NewDCQCN(&params, line)
	fmt.Println("starts at", ctl.Decision().Rate)

	now := 10 * unit.Microsecond
	ctl.OnCNP(now)
	fmt.Println("after a CNP", ctl.Decision().Rate)

	d := ctl.Decision()
	for steps := 0; steps < 3; steps++ {
		ctl.OnTimer(d.TimerAt)
		fmt.Println(d.TimerAt, "raises to", ctl.Decision().Rate)
		d = ctl.Decision()
	}
	// Output:
	// starts at 100Gbps
	// after a CNP 50Gbps
	// 65us raises to 75Gbps
	// 120us raises to 87.5Gbps
	// 175us raises to 93.75Gbps
}

// A Pacer caches the decision and returns when the next packet may be sent.
func ExamplePacer() {
	line := 100 * unit.Gbps
	params := cc.DCQCNPaper(line)
	p := cc.Pacer{Ctl: cc.NewDCQCN(&params, line), Line: line}
	p.Decide(0)
	const frame = 4178 // 4 KiB of payload with all headers, preamble and gap
	p.Delay(0, frame, 0)
	fmt.Println("at line rate the next packet goes at", p.NextAt)

	p.Ctl.OnCNP(0)
	fmt.Println("the rate changes:", p.Decide(0))
	p.Delay(p.NextAt, frame, 0)
	fmt.Println("then the one after it goes at", p.NextAt)
	// Output:
	// at line rate the next packet goes at 334.24ns
	// the rate changes: true
	// then the one after it goes at 1.003us
}
