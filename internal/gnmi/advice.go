package gnmi

import (
	"strings"

	"google.golang.org/grpc/codes"
)

// wrappings are the phrases that gRPC puts around an error, outermost first.
var wrappings = []string{`connection error: desc = "`, "transport: ", "authentication handshake failed: ",
	"Error while dialing: "}

// unwrapped returns an error without gRPC's own phrases.
func unwrapped(says string) string {
	for _, w := range wrappings {
		if rest, is := strings.CutPrefix(says, w); is {
			says = rest
			if strings.HasSuffix(w, `"`) {
				says = strings.TrimSuffix(says, `"`)
			}
		}
	}
	return says
}

// hints are the remedies of failures, by words of gRPC, of Go's TLS and of the network; the first
// that fits counts.
var hints = []struct {
	code codes.Code // codes.OK: any
	says string
	do   string
}{
	{codes.Unauthenticated, "", "name a user of the device: --gnmi-user, and RAILYARD_GNMI_PASSWORD"},
	{codes.PermissionDenied, "", "the user may not read this: --gnmi-user names another"},
	{codes.OK, "does not look like a TLS handshake",
		"it speaks no TLS at this port: HOST:PORT names another, --gnmi-plaintext does without TLS"},
	{codes.OK, "x509:",
		"--gnmi-ca names the CA of its certificate, which must contain this host name; --gnmi-skip-verify accepts any"},
	{codes.OK, "ALPN", "it offers no HTTP/2 at this port, as gRPC needs it: HOST:PORT names another"},
	{codes.OK, "certificate required", "it requires a client certificate: --gnmi-cert and --gnmi-key"},
	{codes.OK, "bad certificate", "it does not take our certificate: --gnmi-cert and --gnmi-key name another"},
	{codes.OK, "reading server preface",
		"no gRPC without TLS at this port: leave --gnmi-plaintext out, or HOST:PORT names another"},
	{codes.OK, "connection refused", "no server listens at this port: HOST:PORT names another"},
	{codes.OK, "invalid port", "ports are 1 to 65535"},
	{codes.OK, "zero addresses", "the name has no address"},
	{codes.OK, "no such host", "the name has no address"},
	{codes.DeadlineExceeded, "waiting for connections",
		"nothing at this port speaks gRPC, or not yet: HOST:PORT names another, --gnmi-timeout waits longer"},
	{codes.DeadlineExceeded, "", "--gnmi-timeout waits longer"},
}

// advice returns the remedy of a failure, empty if unknown.
func advice(code codes.Code, says string) string {
	for _, h := range hints {
		if (h.code == codes.OK || h.code == code) && strings.Contains(says, h.says) {
			return "; " + h.do
		}
	}
	return ""
}
