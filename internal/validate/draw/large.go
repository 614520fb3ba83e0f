package draw

import (
	"fmt"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/rng"
)

// LargeMessages is the least number of messages of a large scenario.
const LargeMessages = 20_000

// Large draws the large scenario of a number: at least LargeMessages messages over a fabric with a link, or the
// links of a spine, below their rate, which is what it is meant to lose time to. Replays of such runs look at rates
// less often.
func Large(seed uint64, number int) (*Case, error) {
	d := &drawing{Stream: rng.New(seed, fmt.Sprintf("large/%d", number)), seed: seed, number: number,
		meant: cause.SlowLink, ports: 1, gpus: 4, rate: 100, sets: map[string][]string{}, files: map[string]string{}}
	own, segments, spines := d.between(1, 1_000_000), d.one(2, 4), d.one(2, 4)
	hosts := 4 * d.one(7, 8, 9, 9, 9) // with four GPUs each
	kind, uplink, server := "rail", "seg-1-rail-1", "gpus: 4, nics: 4"
	if d.chance(0.4) {
		kind, uplink, server = "pod", "rail-1", "gpus: 4, nics: 4, nic_ports: 2, bond: affinity"
		segments = 2
	}
	each, n := hosts/segments, 4*hosts
	first := each + 1 // port of a switch to a spine
	if kind == "pod" {
		first = 4*each + 1
	}
	bytes := int(float64(d.rate) * 1e9 / 8 * (50 + 100*d.Float64()) * 1e-6) // a NIC sends for 50 to 150 us
	work := fmt.Sprintf("alltoall: {bytes: %dB}", bytes)
	if d.chance(0.4) || n*(n-1) < LargeMessages {
		work = fmt.Sprintf("collective: {kind: all-reduce, algorithm: ring, channels: 4, bytes: %dB}", 8*bytes)
	}
	slow := fmt.Sprintf("link: '%s:Eth%d'", uplink, first)
	if d.chance(0.4) {
		slow = "switch: spine-1"
	}
	lb := d.of("ecmp", "ecmp", "spray", "flowlet")
	text := []string{
		fmt.Sprintf("name: large-%d-%d", seed, number), fmt.Sprintf("seed: %d", own),
		fmt.Sprintf("fabric: {kind: %s, hosts: %d, segments: %d, spines: %d, uplinks: 1, %s}", kind, each, segments,
			spines, d.links(200)),
		fmt.Sprintf("server: {%s}", server), "transport: {recovery: selective, write: only}",
		fmt.Sprintf("cc: {algorithm: %s}", d.of("none", "dcqcn")), "lb: " + lb,
		fmt.Sprintf("workload: {traffic: {%s}}", work),
		fmt.Sprintf("events: [{%s, at: 0s, rate_share: %.2f}]", slow, 0.1+0.4*d.Float64()), "output: {sample: 1ms}\n"}
	c := &Case{Name: fmt.Sprintf("large-%d-%d.yaml", seed, number), Number: number, Meant: d.meant,
		Text: strings.Join(text, "\n"), Files: d.files}
	_, err := c.Plan()
	return c, err
}
