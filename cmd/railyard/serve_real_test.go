package main

import (
	"bufio"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestRealServeToken: the printed address has a token, without which no user of the host is admitted; with
// --no-token everyone is.
func TestRealServeToken(t *testing.T) {
	for _, c := range []struct {
		args  []string
		token bool
		bare  int // the status without a token
	}{{nil, true, http.StatusUnauthorized}, {[]string{"--no-token"}, false, http.StatusOK}} {
		cmd := railyard(append([]string{"serve", t.TempDir(), "--port", "0"}, c.args...)...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("no address")
		}
		address, token, found := strings.Cut(lines.Text(), "?token=")
		if found != c.token || found && len(token) < 24 {
			t.Errorf("%v: address %s", c.args, lines.Text())
		}
		get := func(url string) int {
			q, err := http.NewRequest("GET", url, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Sec-Fetch-Mode", "cors") // a program without cookies, such as that of .ci/run
			r, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			return r.StatusCode
		}
		for _, path := range []string{"", "api/runs"} {
			if got := get(address + path); got != c.bare {
				t.Errorf("%v: /%s without a token: %d", c.args, path, got)
			}
			if got := get(address + path + "?token=" + token); got != http.StatusOK {
				t.Errorf("%v: /%s: %d", c.args, path, got)
			}
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
	}
}
