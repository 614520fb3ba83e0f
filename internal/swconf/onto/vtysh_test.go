package onto

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// TestVtyshTakesMerges: FRR itself accepts the merged text, and the steps as typed.
func TestVtyshTakesMerges(t *testing.T) {
	if _, err := exec.LookPath("vtysh"); err != nil {
		t.Skip("vtysh is not installed")
	}
	const own = "frr version 8.4.4\nfrr defaults traditional\nip prefix-list P seq 5 permit any\n" +
		"route-map OUT permit 10\n match ip address prefix-list P\nexit\ninterface swp40\n " +
		"ip address 10.4.0.0/31\nexit\nrouter ospf\n ospf router-id 10.0.0.9\nexit\nline vty\n"
	for _, addressing := range []string{design.Unnumbered, design.Numbered} {
		for _, kind := range []string{"rail", "dual-rail", "fat-tree"} {
			for name, want := range rendered(t, kind, swconf.FRR, same, addressing) {
				m, err := Onto("running", []byte(own), want, swconf.FRR, Options{InBand: true})
				if err != nil {
					t.Fatal(kind, name, err)
				}
				typed := strings.NewReplacer("configure terminal\n", "", "\nend\nwrite memory\n",
					"\n").Replace(m.Script)
				for what, text := range map[string]string{"text": m.Text, "steps": typed} {
					file := filepath.Join(t.TempDir(), "frr.conf")
					if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					out, err := exec.Command("vtysh", "-C", "-f", file).CombinedOutput()
					if err != nil || strings.Contains(string(out), "nknown command") ||
						strings.Contains(string(out), "line ") {
						t.Errorf("%s %s %s: %v: %s\n%s", kind, name, what, err, out, text)
					}
				}
			}
		}
	}
}

// daemons runs zebra and bgpd, loads a text, types commands and prints the result.
const daemons = `set -e
d=$1; ip link set lo up; : > $d/none
for x in zebra bgpd; do
  /usr/lib/frr/$x -d -u root -g frrvty -P 0 -f $d/none -i $d/$x.pid -z $d/z.api --vty_socket $d \
    >/dev/null 2>&1
done
trap 'kill $(cat $d/zebra.pid $d/bgpd.pid)' EXIT
for x in zebra bgpd; do
  for i in $(seq 600); do
    vtysh --vty_socket $d -d $x -c "show version" >/dev/null 2>&1 && break; sleep 0.2
  done
done
vtysh --vty_socket $d -f $d/running
vtysh --vty_socket $d < $d/typed > $d/said
vtysh --vty_socket $d -c "show running-config" > $d/printed`

// TestBgpdPrintsMerges: a real bgpd accepts the typed commands, and a merge into its printed configuration has no
// step. The defaults of one text hide a line; another text adds no neighbour to IPv4 by default.
func TestBgpdPrintsMerges(t *testing.T) {
	for _, need := range []string{"/usr/lib/frr/bgpd", "vtysh", "unshare", "ip"} {
		if _, err := exec.LookPath(need); err != nil || os.Getuid() != 0 {
			t.Skip("needs root and ", need)
		}
	}
	if err := exec.Command("unshare", "-n", "true").Run(); err != nil {
		t.Skip("no network namespace here: ", err)
	}
	want := rendered(t, "rail", swconf.FRR, same, design.Numbered)["seg-1-rail-1"]
	router := regexp.MustCompile(`router bgp \d+`).FindString(want)
	for _, own := range []string{
		"frr defaults datacenter\nhostname a\n",
		"frr defaults traditional\nhostname a\n" + router + "\n no bgp default ipv4-unicast\n" +
			" neighbor 192.0.2.9 remote-as 65009\n address-family ipv4 unicast\n" +
			"  redistribute connected route-map OWN\n  neighbor 192.0.2.9 activate\n" +
			" exit-address-family\nexit\n" +
			"route-map OWN permit 10\nexit\n",
	} {
		m, err := Onto("running", []byte(own), want, swconf.FRR, Options{InBand: true})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"running": own,
			"typed": strings.Replace(m.Script, "write memory\n", "", 1)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command("unshare", "-n", "sh", "-c", daemons, "sh", dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		said, _ := os.ReadFile(filepath.Join(dir, "said"))
		if strings.Contains(string(said), "%") || strings.Contains(string(said), "nknown") {
			t.Errorf("%s\n%s", m.Script, said)
		}
		printed, err := os.ReadFile(filepath.Join(dir, "printed"))
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(printed), "Current configuration:\n")
		again, err := Onto("printed", []byte(text), want, swconf.FRR, Options{InBand: true})
		if err != nil || len(again.Steps) > 0 {
			t.Errorf("%v: %+v\n%s", err, again, printed)
		}
	}
}
