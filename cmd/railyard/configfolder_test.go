package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files writes a folder of files.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Each input is named with its detected kind and the accepted ones; every device of a folder is shown.
func TestShownFolders(t *testing.T) {
	const sw = "hostname %s\nfeature lldp\ninterface Ethernet1/1\n  mtu 9216\n" +
		"  priority-flow-control mode on\nclass-map type qos match-any ROCE\n  match dscp 24\n"
	leaf, spine := strings.Replace(sw, "%s", "leaf-1", 1), strings.Replace(sw, "%s", "spine-1", 1)
	const host = "mlnx_qos -i eth0 --trust dscp\nip link set eth0 mtu 9000\n"
	const markdown = "# Guide\n\n```\nmlnx_qos -i eth0 --trust dscp\n```\n\nThen [look](a(b).md).\n"
	for _, c := range []struct {
		what  string
		files map[string]string
		args  []string // DIR is the folder
		code  int
		want  []string
		not   string
	}{
		{"a folder of switches and a server", map[string]string{"a/leaf.cfg": leaf, "b/spine.cfg": spine,
			"host-1.sh": host, "cabling.csv": "x,y\n1,2\n"}, []string{"show", "DIR"}, exitOK,
			[]string{"leaf-1", "spine-1", "host-1", "ignored: in no supported language"}, ""},
		{"a server's folder", map[string]string{"a.sh": host,
			"b.sh": "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\n"},
			[]string{"show", "DIR"}, exitOK, []string{"host, "}, "no configuration"},
		{"an empty folder", nil, []string{"show", "DIR"}, exitInput, []string{"no file in it"}, ""},
		{"binaries alone", map[string]string{"a.bin": "\x00\x01\x02\x7f\x00\x00ab",
			"b.bin": "\xff\x00\x03\x04"},
			[]string{"show", "DIR"}, exitInput, []string{"no configuration among 2 files", "binary"}, ""},
		{"Markdown", map[string]string{"README.md": markdown}, []string{"show", "DIR/README.md"}, exitInput,
			[]string{"Markdown", "accepted: Cisco NX-OS"}, "shell"},
		{"a table", map[string]string{"a.md": "# Tools\n\n| command | does |\n|---|---|\n" +
			"| `mlnx_qos -i` | (a `b`) |\n"},
			[]string{"show", "DIR/a.md"}, exitInput, []string{"Markdown"}, "shell"},
		{"Markdown, linted", map[string]string{"README.md": markdown}, []string{"lint", "DIR/README.md"},
			exitInput,
			[]string{"Markdown"}, "shell"},
		{"DCBX of servers", map[string]string{"h.sh": host}, []string{"dcbx", "DIR/h.sh"}, exitInput,
			[]string{"a host's configuration", "--fabric"}, "no language"},
		{"a file twice", map[string]string{"a.cfg": leaf}, []string{"lint", "DIR/a.cfg", "DIR/a.cfg"}, exitOK,
			[]string{"the configuration of leaf-1 again"}, "address-duplicate"},
		{"a copy", map[string]string{"a.cfg": leaf, "b.cfg": leaf}, []string{"lint", "DIR"}, exitOK,
			[]string{"the configuration of leaf-1 again"}, "address-duplicate"},
		{"two texts of a device", map[string]string{"a.cfg": leaf, "b.cfg": leaf + "vlan 7\n"},
			[]string{"lint", "DIR"}, exitOK, []string{"are different configurations of leaf-1, and both are read"}, ""},
	} {
		dir := folderOf(t, c.files)
		args := []string{"config"}
		for _, a := range c.args {
			args = append(args, strings.Replace(a, "DIR", dir, 1))
		}
		code, out, errs := call(t, args...)
		if code != c.code {
			t.Errorf("%s: exit %d: %s%s", c.what, code, out, errs)
		}
		all := strings.Join(strings.Fields(out+errs), " ")
		for _, w := range c.want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: not %q in %s", c.what, w, all)
			}
		}
		if c.not != "" && strings.Contains(all, c.not) {
			t.Errorf("%s: %q in %s", c.what, c.not, all)
		}
	}
}

// An MTU that the system rejects is named with its line and the accepted range.
func TestMTURanges(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"hostname a\ninterface Eth1/1\n mtu 99999\n ip address 10.0.0.1/31\n!\nqos map dscp-tc X\n", ":3:"},
		{"set system host-name a\nset interfaces et-0/0/0 mtu 99999\n", ":2:"},
		{"set system host-name a\nset interfaces et-0/0/0 mtu 255\n", "256 to 16000"},
		{"hostname a\nfeature lldp\ninterface Ethernet1/1\n  mtu 99999\n", ":4:"},
		{"hostname a\ninterface Ethernet1\n   mtu 99999\n   switchport\n", ":3:"},
		{"nv set system hostname a\nnv set interface swp1 link mtu 99999\n", ":2:"},
		{`{"PORT": {"Ethernet0": {"lanes": "1", "mtu": "9217"}}}`, "68 to 9216"},
		{"frr version 8.4\niface swp1\n    mtu 99999\n!\nrouter bgp 65000\n", "68 to 65535"},
	} {
		path := filepath.Join(t.TempDir(), "x.cfg")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, out, errs := call(t, "config", "lint", path)
		if all := strings.Join(strings.Fields(out+errs), " "); !strings.Contains(all, "bad-value") ||
			!strings.Contains(all, c.want) || !strings.Contains(strings.ToUpper(all), "MTU ") {
			t.Errorf("%q: not %q in %s", c.text, c.want, all)
		}
	}
}
