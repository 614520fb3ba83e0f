package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLabBadInput(t *testing.T) {
	s := filepath.Join(scenarios(t), "lab-2x2.yaml")
	for args, want := range map[string]string{
		"lab up " + s + " --rate 5":                 "--rate",
		"lab up nowhere.yaml":                       "no such file",
		"lab status --name nolab":                   "no lab \"nolab\" is up",
		"lab status --name ../x":                    "a lab's name",
		"lab down --name nolab":                     "no lab",
		"lab rdma write":                            "runs allreduce",
		"lab compare --name nolab":                  "no lab",
		"lab rdma allreduce --ranks 3":              "is set by the lab",
		"lab link --name nolab spine-1:Eth1 down":   "no lab",
		"lab loss --name nolab spine-1:Eth1 1":      "no lab",
		"lab up " + s + " --name t9 --routing ospf": "",
	} {
		code, _, errs := call(t, strings.Fields(args)...)
		if os.Geteuid() != 0 {
			continue // without root every command reports that
		}
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}
