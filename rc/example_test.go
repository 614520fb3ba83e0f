package rc_test

import (
	"fmt"

	"railyard/rc"
	"railyard/unit"
)

// A WRITE of three packets; the second is lost. The driver of the two ends carries packets from Next to Data, and
// answers from Data to Acknowledged.
func Example() {
	cfg := rc.Config{MTU: 1024, AckEvery: 16, Timeout: rc.LocalAckTimeout(10), Retries: 7}
	memory := make([]byte, 4096)
	regions := rc.NewMemory(1)
	if err := regions.RegisterBuffer(9, 0x1000, memory, rc.LocalWrite|rc.RemoteWrite); err != nil {
		fmt.Println(err)
	}
	a, b := rc.NewQP(&cfg, rc.NewMemory(1)), rc.NewQP(&cfg, regions)
	for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
		a.Modify(s, 100) // the first PSN, agreed beforehand
		b.Modify(s, 100)
	}
	data := make([]byte, 3000)
	copy(data[2993:], "the end")
	if err := a.Post(&rc.Request{ID: 7, Verb: rc.Write, VA: 0x1000, RKey: 9, Len: 3000,
		Data: data}); err != nil {
		fmt.Println(err)
	}

	now, lost := unit.Time(0), false
	var p rc.Packet
	var answer rc.Answer
	for a.Next(now, &p) {
		fmt.Println("sent", p.Opcode, p.PSN)
		if p.PSN == 101 && !lost {
			lost = true
			continue
		}
		if b.Data(&p, &answer); answer.Reply {
			fmt.Println("    answered", answer.Packet.Syndrome, answer.Packet.PSN)
			a.Acknowledged(now, &answer.Packet)
		}
		now += unit.Microsecond
	}
	done, _ := a.PopCompletion()
	fmt.Println("request", done.ID, done.Status)
	fmt.Printf("%s\n", memory[2993:3000])
	// Output:
	// sent WRITE First 100
	// sent WRITE Middle 101
	// sent WRITE Last 102
	//     answered NAK PSN sequence error 101
	// sent WRITE Middle 101
	// sent WRITE Last 102
	//     answered ACK 102
	// request 7 success
	// the end
}

// The responder checks every request against the registered regions: this region may be written but not read.
func ExampleMemory() {
	cfg := rc.Config{MTU: 1024, AckEvery: 1, Reads: 1, ReadsIn: 1}
	regions := rc.NewMemory(1)
	regions.RegisterBuffer(9, 0, make([]byte, 4096), rc.LocalWrite|rc.RemoteWrite)
	a, b := rc.NewQP(&cfg, rc.NewMemory(1)), rc.NewQP(&cfg, regions)
	for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
		a.Modify(s, 0)
		b.Modify(s, 0)
	}
	a.Post(&rc.Request{ID: 1, Verb: rc.Read, RKey: 9, Len: 8, Data: make([]byte, 8)})
	var p rc.Packet
	var answer rc.Answer
	a.Next(0, &p)
	b.Data(&p, &answer)
	fmt.Println(p.Opcode, "is answered", answer.Packet.Syndrome)
	a.Acknowledged(0, &answer.Packet)
	done, _ := a.PopCompletion()
	fmt.Println("request", done.ID, done.Status, "and the queue pair is in", a.State())
	// Output:
	// READ Request is answered NAK remote access error
	// request 1 remote access error and the queue pair is in ERR
}
