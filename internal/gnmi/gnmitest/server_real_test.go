package gnmitest

import (
	"context"
	"testing"
	"time"

	"railyard/internal/counters"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestRealServer: who has the password gets what the snapshot counts, once the first was asked for LLDP that of
// the second; who has not is refused.
func TestRealServer(t *testing.T) {
	var shots []counters.Snapshot
	for _, n := range []uint64{7, 9} {
		p := counters.Port{Name: "Ethernet1", RxBytes: counters.Count{V: n, Is: true}}
		shots = append(shots, counters.Snapshot{Device: "leaf", Kind: counters.Switch,
			Ports: []counters.Port{p}})
	}
	s := &Server{Snapshots: shots, Encoding: pb.Encoding_JSON_IETF, User: "admin", Password: "secret"}
	addr, stop, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	get := func(ctx context.Context, name string) (string, error) {
		r, err := pb.NewGNMIClient(conn).Get(ctx, &pb.GetRequest{Encoding: pb.Encoding_JSON_IETF,
			Path: []*pb.Path{{Elem: []*pb.PathElem{{Name: name}}}}})
		return r.String(), err
	}
	if _, err := get(ctx, "interfaces"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a password: %v", err)
	}
	ctx = metadata.AppendToOutgoingContext(ctx, "username", "admin", "password", "secret")
	first, err := get(ctx, "interfaces")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := get(ctx, "interfaces"); err != nil || same != first {
		t.Errorf("asked again: %v\n%s\n%s", err, first, same)
	}
	if _, err := get(ctx, "lldp"); err != nil {
		t.Fatal(err)
	}
	if second, err := get(ctx, "interfaces"); err != nil || second == first {
		t.Errorf("after LLDP: %v, %s", err, second)
	}
}
