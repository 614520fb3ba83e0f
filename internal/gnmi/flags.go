package gnmi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"railyard/internal/counters"
	"railyard/internal/input"
	"railyard/unit"
)

// Flags are the flags of commands that read counters over gNMI.
type Flags struct {
	GNMI         []string      `help:"Poll devices over gNMI twice: HOST or HOST:PORT, separated by commas" group:"gNMI" name:"gnmi" placeholder:"HOST"`
	GNMIInterval time.Duration `help:"Time between the two polls" group:"gNMI" name:"gnmi-interval" default:"10s" placeholder:"TIME" with:"gnmi"`
	GNMITimeout  time.Duration `help:"Timeout of a device" group:"gNMI" name:"gnmi-timeout" default:"20s" placeholder:"TIME" with:"gnmi"`
	GNMIUser     string        `help:"User (RAILYARD_GNMI_USER)" group:"gNMI" name:"gnmi-user" env:"RAILYARD_GNMI_USER" placeholder:"NAME"`
	GNMIPassword string        `help:"Password; safer in the environment (RAILYARD_GNMI_PASSWORD)" group:"gNMI" name:"gnmi-password" env:"RAILYARD_GNMI_PASSWORD" placeholder:"WORD"`
	GNMICA       string        `help:"CA certificates, PEM (the system's)" group:"gNMI" name:"gnmi-ca" placeholder:"FILE" with:"gnmi"`
	GNMICert     string        `help:"Client certificate, PEM" group:"gNMI" name:"gnmi-cert" placeholder:"FILE" with:"gnmi"`
	GNMIKey      string        `help:"Key of the client certificate, PEM" group:"gNMI" name:"gnmi-key" placeholder:"FILE" with:"gnmi"`
	GNMISkip     bool          `help:"Accept any certificate (allows interception)" group:"gNMI" name:"gnmi-skip-verify" with:"gnmi"`
	GNMIPlain    bool          `help:"Disable TLS (sends the password in clear text)" group:"gNMI" name:"gnmi-plaintext" with:"gnmi"`
}

// Limits of requests.
const (
	maxTargets     = 4096
	longestBetween = 24 * time.Hour
)

// check refuses impossible settings before any request.
func (c *Flags) check() error {
	switch {
	case len(c.GNMI) > maxTargets:
		return input.Fault(fmt.Errorf("--gnmi: %d devices; at most %d in one call", len(c.GNMI), maxTargets))
	case c.GNMIInterval <= 0 || c.GNMIInterval > longestBetween:
		return input.Fault(fmt.Errorf("--gnmi-interval: %[2]v is out of range 1ms–%[1]v",
			longestBetween,
			c.GNMIInterval))
	case c.GNMITimeout <= 0 || c.GNMITimeout > time.Hour:
		return input.Fault(fmt.Errorf("--gnmi-timeout: %v is out of range 1ms–1h", c.GNMITimeout))
	case c.GNMIPlain && (c.GNMISkip || c.GNMICA != "" || c.GNMICert != ""):
		return input.Fault(errors.New("--gnmi-plaintext: certificates have no effect without TLS"))
	case (c.GNMICert == "") != (c.GNMIKey == ""):
		return input.Fault(errors.New("--gnmi-cert and --gnmi-key: one is of no use without the other"))
	}
	for _, t := range c.GNMI {
		if t == "" {
			return input.Fault(errors.New("--gnmi: a device without a name"))
		}
	}
	return nil
}

// options returns how devices are talked to.
func (c *Flags) options() (o Options, err error) {
	o.User, o.Password = c.GNMIUser, c.GNMIPassword
	if c.GNMIPlain {
		return o, nil
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.GNMISkip}
	if c.GNMICA != "" {
		b, err := input.Text(c.GNMICA, 1<<20)
		if err != nil {
			return o, input.Fault(err)
		}
		if o.TLS.RootCAs = x509.NewCertPool(); !o.TLS.RootCAs.AppendCertsFromPEM(b) {
			return o, input.Fault(fmt.Errorf("%s: holds no certificate (PEM)", c.GNMICA))
		}
	}
	if c.GNMICert != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Clean(c.GNMICert), filepath.Clean(c.GNMIKey))
		if err != nil {
			return o, input.Fault(err)
		}
		o.TLS.Certificates = []tls.Certificate{pair}
	}
	return o, nil
}

// Read reads all devices, waits, and reads again; say reports the waits. A device that does not answer is a note if
// another one answers.
func (c *Flags) Read(ctx context.Context, say io.Writer) (all []counters.Snapshot, notes []string, err error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	o, err := c.options()
	if err != nil {
		return nil, nil, err
	}
	for round := range 2 {
		if round == 1 {
			fmt.Fprintf(say, "%s answered; again in %v\n", unit.Plural(len(all), "device"), c.GNMIInterval)
			select {
			case <-time.After(c.GNMIInterval):
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
		some, more, err := Snapshots(ctx, c.GNMI, o, c.GNMITimeout)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		all = append(all, some...)
		if round == 1 {
			notes = more
		}
	}
	return all, notes, nil
}
