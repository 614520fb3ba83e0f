package scenario

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// domained is a fabric of servers that share NVLink.
func domained(hosts, gpus, domain int) string {
	return fmt.Sprintf("fabric: {kind: rail-only, hosts: %d, host_link: {rate: 400Gbps}}\n"+
		"server: {gpus: %d, nics: %[2]d, nvlink_domain: %d}\n"+
		"workload: {traffic: {permutation: {bytes: 1MiB}}}\n", hosts, gpus, domain)
}

// Domains consist of whole servers, in order, with equal numbers of GPUs; other domains are errors with their
// place.
func TestNVLinkDomains(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hosts, gpus := rapid.IntRange(1, 24).Draw(rt, "hosts"), rapid.SampledFrom([]int{1, 2, 4,
			8}).Draw(rt, "gpus")
		domain := rapid.IntRange(0, 96).Draw(rt, "domain")
		p, err := resolved(t, domained(hosts, gpus, domain))
		of := max(domain, gpus)
		switch {
		case domain > 0 && (domain%gpus != 0 || hosts*gpus%domain != 0):
			if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:2:") ||
				!strings.Contains(err.Error(), "server.nvlink_domain: ") {
				rt.Fatalf("domains of %d GPUs, %d servers of %d: %v", domain, hosts, gpus, err)
			}
			return
		case hosts*gpus < 2:
			return // a permutation needs two
		case err != nil:
			rt.Fatal(err)
		}
		g := p.Graph
		if g.Domains() != hosts*gpus/of || g.PerDomain() != of {
			rt.Fatalf("%d domains of %d GPUs, want %d of %d", g.Domains(), g.PerDomain(), hosts*gpus/of, of)
		}
		for gpu := range hosts * gpus {
			if d := g.DomainOf(g.HostOf(gpu)); d != gpu/of || g.PlaceOf(gpu) != gpu%of {
				rt.Fatalf("GPU %d is in domain %d at %d, domains have %d", gpu, d, g.PlaceOf(gpu), of)
			}
		}
	})
}

// Up to 576 GPUs share NVLink, as one server or as many. A described fabric sets it in its types.
func TestLargestDomains(t *testing.T) {
	for _, text := range []string{domained(2, 256, 0), domained(1, 576, 0), domained(288, 4, 576),
		domained(36, 2, 72)} {
		if _, err := resolved(t, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		domained(1, 577, 0):   "x.yaml:2:10: server.gpus: 577 is out of range 1–576",
		domained(2, 288, 578): "x.yaml:2:32: server.nvlink_domain: 578 is out of range 1–576",
		rails:                 "server.nvlink_domain=16: has no effect on a fabric of types",
	} {
		sets := []string{}
		if text == rails {
			sets = []string{"server.nvlink_domain=16"}
		}
		if _, err := resolved(t, text, sets...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
