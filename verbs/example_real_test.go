package verbs_test

import (
	"io"
	"os"
	"testing"
)

// The example's output, over the sockets of this host.
func TestRealExample(t *testing.T) {
	const want = `RECV_RDMA_WITH_IMM 19 bytes, immediate 42
request 7 IBV_WC_SUCCESS
hello over UDP 4791
`
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stdout := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = stdout }()
	Example() // it prints less than a pipe buffers
	out.Close()
	if b, err := io.ReadAll(in); err != nil || string(b) != want {
		t.Errorf("%v, %q", err, b)
	}
}
