// Package dell parses the command line of Dell Enterprise SONiC (sonic-cli, from Broadcom's management framework).
// It reads maps from DSCP to traffic class, from traffic class to queue and priority group, WRED and scheduler
// policies, and the interfaces that use them. It renders no configuration.
package dell
