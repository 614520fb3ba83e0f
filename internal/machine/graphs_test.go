package machine

import (
	"strings"
	"testing"
)

// graphDump is a dump of NCCL 2.21 for four GPUs.
const graphDump = `<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="24" latencyinter="0"
    typeintra="NVL" typeinter="PXB" samechannels="0">
    <channel>
      <net dev="0"/>
      <gpu dev="0" rank="0"/>
      <gpu dev="3" rank="3"/>
      <gpu dev="2" rank="2"/>
      <gpu dev="1" rank="1"/>
      <net dev="0"/>
    </channel>
    <channel>
      <net dev="1"/>
      <gpu dev="2" rank="2"/>
      <gpu dev="1" rank="1"/>
      <gpu dev="0" rank="0"/>
      <gpu dev="3" rank="3"/>
      <net dev="1"/>
    </channel>
  </graph>
  <graph id="3" pattern="5" nchannels="0" speedintra="0" speedinter="0" typeintra="NVL" typeinter="PIX"/>
</graphs>
`

func TestGraphs(t *testing.T) {
	all, err := ReadGraphs("g.xml", []byte(graphDump))
	if err != nil || len(all) != 2 || !IsGraphs([]byte(graphDump)) || IsServer([]byte(graphDump)) {
		t.Fatal(all, err)
	}
	want := `ring: 2 channels of 20 GB/s inside (NVL), 24 GB/s between servers (PXB)
  channel 0: GPUs 0 3 2 1, in by NIC 0, out by NIC 0
  channel 1: GPUs 2 1 0 3, in by NIC 1, out by NIC 1`
	if got := strings.Join(all[0].Words(), "\n"); got != want {
		t.Error(got)
	}
	want = "NVLS: 0 channels of 0 GB/s inside (NVL), 0 GB/s between servers (PIX)"
	if got := all[1].Words()[0]; got != want {
		t.Error(got)
	}
	if gpus, nics := Size(all); gpus != 4 || nics != 2 {
		t.Error(gpus, nics)
	}
	for text, want := range map[string]string{
		"<graphs><graph nchannels='-1'/></graphs>":     "has -1 channels",
		"<graphs><graph nchannels='x'/></graphs>":      "is not complete XML of graphs",
		"<graphs>\n<graph>":                            "g.xml:2:1: is not complete XML of graphs",
		"<graphs/>":                                    "has no graph",
		"<graphs><graph speedintra='1e300'/></graphs>": "which cannot be",
	} {
		if _, err := ReadGraphs("g.xml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The kind of a text is detected from its beginning.
func TestIsServer(t *testing.T) {
	for text, want := range map[string]bool{
		"\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tNV18": true,
		"<system version=\"1\">\n":                            true,
		"GPU0 is fine\n":                                      false,
		"host,port\n":                                         false,
	} {
		if IsServer([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
