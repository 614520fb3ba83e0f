// Package sonic parses and renders SONiC's config_db.json: QoS maps, schedulers, WRED and buffer profiles, PFC and
// its watchdog, ports and addresses, by the tables and fields of SONiC's YANG models.
//
// [Parse] accepts whole databases, flat dumps, and files without PORT (qos.json). Several ASICs (localhost, asic0,
// ...) are one device, and each port has its own ASIC's maps (asics.go). [Render] needs lanes and names of a
// device: a [Profile] from hwskus.json ([Known]) or from the device's own files ([Named]). [Fit] assigns the cables
// of a switch to its cages and splits them if the device supports that. In tests yanglint checks rendered files
// against the published models.
package sonic
