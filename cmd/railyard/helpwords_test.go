package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"railyard/docs"

	"github.com/alecthomas/kong"
)

// general are abbreviations known to everyone who runs a network or a training, and names of products, formats and
// algorithms, which help lists with a description.
const general = "ACK AMD API ASIC BGP CA CEE CI CPU CSV GPU HTML IEEE IP IPv6 JSON JUnit MTU NAK NACK NIC OS PCIe " +
	"PEM PNG QoS RTT SARIF SQL SVG TCP TLS UDP URL VLAN XML YAML TFLOP FLOP READ WRITE SEND EOS FRR NX-OS NVUE " +
	"SONiC gNMI NATS NetBox AICB ATLAHS GOAL LogGOPSim MSCCL SimAI SQLite HPCC HPN NVIDIA ConnectX TPU NCCL PyTorch " +
	"ASTRA-sim InfraGraph DeepSeek DeepSpeed NeMo JetStream COUNTERS_DB RoCE RoCEv1 Megatron-LM kWh uet-htsim " +
	"N XxYxZ PORTSxRATE LLDP/DCBX VPP KiB MiB LM "

// stand are words in capitals that stand for a value.
const stand = "FILE FILE-rankN NAME-NNN PARAMETER PORT PREFIX PROFILE RULE SBATCH TIME VALUE VERSION"

// abbreviation matches a word with two capitals.
var abbreviation = regexp.MustCompile(`\b[A-Za-z]*[A-Z][A-Za-z]*[A-Z][A-Za-z0-9]*(?:-[A-Za-z]+)?\b`)

// TestHelpWords checks that the glossary has the abbreviations that help texts use, except those of its list.
func TestHelpWords(t *testing.T) {
	glossary, err := docs.Files.ReadFile("glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(general + stand)
	known = append(known, regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(string(glossary), -1)...)
	p, release := newParser()
	defer release()
	for _, n := range p.kong.Model.Leaves(true) {
		texts, _, _ := strings.Cut(n.Help+"\n"+n.Detail, "Example")
		var holders []string
		for _, v := range slices.Concat(n.Positional, valuesIn(n.Flags)) {
			texts += "\n" + v.Help
			holders = append(holders, abbreviation.FindAllString(v.Tag.PlaceHolder+" "+strings.ToUpper(v.Name), -1)...)
		}
		for _, w := range abbreviation.FindAllString(texts, -1) {
			if has := append(known, holders...); !slices.Contains(has, w) &&
				!slices.Contains(has, strings.TrimSuffix(w, "s")) {
				t.Errorf("help of %s: %s is not in docs/glossary.md", n.Path(), w)
			}
		}
	}
}

// valuesIn returns the possible values of flags.
func valuesIn(flags []*kong.Flag) (values []*kong.Value) {
	for _, f := range flags {
		values = append(values, f.Value)
	}
	return values
}
