package gnmi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"railyard/internal/counters"

	pb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// DefaultPort is gNMI's, registered with IANA.
const DefaultPort = "9339"

// Limits of one device's responses: one message, its elements (which take up to 50 times their bytes), all messages,
// leaves, interfaces and the letters of a name. A chassis of 576 ports has 200,000 leaves; an interface's counters
// take 5 KB here.
const (
	maxMessage  = 16 << 20
	maxElements = 500_000
	maxBytes    = 512 << 20
	maxLeaves   = 1_000_000
	maxPorts    = 10_000
	maxName     = 1024
	maxDepth    = 64 // of a path; counters are at 10 to 15
)

// excess is the error of a device that sends more than any switch has.
type excess struct{ target, what string }

func (e *excess) Error() string {
	return fmt.Sprintf("%s: sends more than %s: that is not a switch; nothing of it is used", e.target, e.what)
}

// Options are the settings of a connection.
type Options struct {
	User, Password string
	TLS            *tls.Config // nil: plain text
}

// Client is a connection to one device.
type Client struct {
	target   string
	conn     *grpc.ClientConn
	gnmi     pb.GNMIClient
	codec    *codec
	opts     Options
	encoding pb.Encoding
	named    string // required name in a prefix; "" for none
	origin   string // origin of paths; "" in most devices
	whole    bool   // whether the device lacks wildcards: lists are requested whole
	untyped  bool   // whether the device lacks data types in Get
}

// Dial prepares a connection; the first question opens it.
func Dial(target string, o Options) (*Client, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		target = net.JoinHostPort(target, DefaultPort)
	}
	cred := insecure.NewCredentials()
	if o.TLS != nil {
		cred = credentials.NewTLS(o.TLS)
	}
	c := &Client{target: target, opts: o, codec: &codec{target: target}}
	var err error
	c.conn, err = grpc.NewClient(target, grpc.WithTransportCredentials(cred),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.ForceCodec(c.codec)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target, err)
	}
	c.gnmi = pb.NewGNMIClient(c.conn)
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// with adds the credentials.
func (c *Client) with(ctx context.Context) context.Context {
	if c.opts.User == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "username", c.opts.User, "password", c.opts.Password)
}

// Snapshot requests all data for a diagnosis. Data that a device lacks are a note; a device without any of them is an
// error.
func (c *Client) Snapshot(ctx context.Context) (*counters.Snapshot, []string, error) {
	ctx = c.with(ctx)
	caps, err := c.gnmi.Capabilities(ctx, &pb.CapabilityRequest{})
	if much := c.codec.over.Load(); much != nil {
		return nil, nil, much
	}
	if err != nil && status.Code(err) != codes.Unimplemented { // collectors that serve others' have none
		return nil, nil, c.fail("does not answer", err)
	}
	c.encoding = pick(caps.GetSupportedEncodings())
	t := newTree(c.target)
	notes, err := c.all(ctx, t)
	if err == nil && len(t.ports) == 0 { // by the specification, no origin means this one; caches distinguish them
		c.origin = "openconfig"
		notes, err = c.all(ctx, t)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(t.ports) == 0 {
		said := ""
		if len(notes) > 0 {
			said = " (" + notes[0] + ")"
		}
		return nil, notes, fmt.Errorf("%s: responds, and has no counters of interfaces, queues or PFC under any requested path%s", c.target, said)
	}
	return t.snapshot(), notes, nil
}

// all sends all requests. A device that supports some of them answers these, and an answer that was incomplete at
// the time limit counts.
func (c *Client) all(ctx context.Context, t *tree) (notes []string, err error) {
	for i, q := range questions {
		err := c.once(ctx, q, t)
		var much *excess
		if errors.As(err, &much) {
			return nil, err
		}
		if err != nil && c.codec.over.Load() != nil {
			return nil, c.codec.over.Load()
		}
		if status.Code(err) == codes.DeadlineExceeded && len(t.ports) > 0 {
			late := "%s is slow: no response to %s in time, and %d later requests are not sent; earlier responses count (--gnmi-timeout raises the limit)"
			return append(notes, fmt.Sprintf(late, c.target, q.name(), len(questions)-1-i)), nil
		}
		if err != nil && slices.Contains(final, status.Code(err)) {
			return nil, c.fail("refuses "+q.name(), err)
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s has no %s: %s", c.target, q.name(), status.Convert(err).Message()))
		}
	}
	return notes, nil
}

// final are answers after which no further request is useful.
var final = []codes.Code{codes.Unauthenticated, codes.PermissionDenied, codes.Unavailable,
	codes.DeadlineExceeded, codes.ResourceExhausted, codes.Canceled}

// fail returns the device's error message.
func (c *Client) fail(what string, err error) error {
	st := status.Convert(err)
	return fmt.Errorf("%s %s: %s (%v)%s", c.target, what, unwrapped(st.Message()), st.Code(),
		advice(st.Code(), st.Message()))
}

// pick prefers the most compact encodings.
func pick(has []pb.Encoding) pb.Encoding {
	for _, e := range []pb.Encoding{pb.Encoding_JSON_IETF, pb.Encoding_PROTO, pb.Encoding_JSON} {
		for _, h := range has {
			if h == e {
				return e
			}
		}
	}
	return pb.Encoding_JSON
}

// once sends one request. Devices report further requirements only in words: a prefix with the device's name
// (NVIDIA's switches accept any; collectors accept the names that they serve, and * for all), or an encoding other
// than the listed ones (Junos). An accepted form is used for later requests.
func (c *Client) once(ctx context.Context, q question, t *tree) error {
	names := []string{c.host(), "*"}
	encodings := []pb.Encoding{pb.Encoding_PROTO, pb.Encoding_JSON, pb.Encoding_JSON_IETF}
	for {
		n := t.leaves
		err := c.ask(ctx, q, t)
		code, says := status.Code(err), strings.ToLower(status.Convert(err).Message())
		refused := err != nil && t.leaves == n && slices.Contains(otherwise, code)
		switch {
		case refused && strings.Contains(says, "encoding") && len(encodings) > 0:
			c.encoding, encodings = encodings[0], encodings[1:]
		case refused && q.target == "" && len(names) > 0 &&
			(strings.Contains(says, "prefix") || strings.Contains(says, "target")):
			c.named, names = names[0], names[1:]
		case refused && strings.Contains(says, "request type") && !c.untyped:
			c.untyped = true
		case refused && q.wild() && !c.whole:
			c.whole = true
			if c.ask(ctx, q, t) != nil {
				c.whole = false
				return err
			}
			return nil
		default:
			return err
		}
	}
}

// otherwise the same may be requested in another form
var otherwise = []codes.Code{codes.InvalidArgument, codes.Unimplemented, codes.NotFound, codes.Unknown,
	codes.FailedPrecondition}

// host is the device as it was named, without its port.
func (c *Client) host() string { return c.target[:strings.LastIndexByte(c.target, ':')] }

// prefix returns that of a request: its own, or the name that a device requires.
func (c *Client) prefix(q question) *pb.Path {
	if p := q.prefix(); p != nil || c.named == "" {
		return p
	}
	return &pb.Path{Target: c.named}
}

// path returns that of a request.
func (c *Client) path(q question) *pb.Path {
	if c.whole {
		q = q.parent()
	}
	p := q.path()
	if q.target == "" {
		p.Origin = c.origin
	}
	return p
}

// ask sends Subscribe ONCE, or Get if a device does not support that.
func (c *Client) ask(ctx context.Context, q question, t *tree) error {
	err := c.subscribe(ctx, q, t)
	if status.Code(err) != codes.Unimplemented || strings.Contains(err.Error(), "ncoding") {
		return err
	}
	kind := pb.GetRequest_STATE
	if c.untyped {
		kind = pb.GetRequest_ALL
	}
	r, err := c.gnmi.Get(ctx, &pb.GetRequest{Prefix: c.prefix(q), Path: []*pb.Path{c.path(q)},
		Type: kind, Encoding: c.encoding})
	if err != nil {
		return err
	}
	if err := t.received(proto.Size(r)); err != nil {
		return err
	}
	for _, n := range r.Notification {
		if err := t.add(n); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) subscribe(ctx context.Context, q question, t *tree) error {
	stream, err := c.gnmi.Subscribe(ctx)
	if err != nil {
		return err
	}
	list := &pb.SubscriptionList{Prefix: c.prefix(q), Mode: pb.SubscriptionList_ONCE, Encoding: c.encoding,
		Subscription: []*pb.Subscription{{Path: c.path(q)}}}
	err = stream.Send(&pb.SubscribeRequest{Request: &pb.SubscribeRequest_Subscribe{Subscribe: list}})
	if err != nil && !errors.Is(err, io.EOF) { // EOF: the status follows with the next message
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.GetSyncResponse() {
			return nil
		}
		if err := ctx.Err(); err != nil { // received data are not all read first
			return status.FromContextError(err).Err()
		}
		if err := t.received(proto.Size(m)); err != nil {
			return err
		}
		if n := m.GetUpdate(); n != nil {
			if err := t.add(n); err != nil {
				return err
			}
		}
	}
}
