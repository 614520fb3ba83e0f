package counters

import (
	"regexp"
)

// SONiC's show commands, as sonic-utilities prints them (pfcstat, queuestat, wredstat,
// portstat, pfcwd, watermarkstat, pg-drop, intfutil, lldpshow), and its database.
var sonicFormats = []Format{
	{Name: "sonic-status", System: "sonic", About: "show interfaces status: speed, MTU, up or down",
		Command: "show interfaces status",
		command: regexp.MustCompile(`^(?:show int\w* status|intfutil)\b`),
		head:    regexp.MustCompile(`^\s*Interface\s+Lanes\s+Speed\s+MTU\b`),
		read:    sonicRows(rowStatus), write: writeSonicStatus},
	{Name: "sonic-pfc-history", System: "sonic",
		About:   "show pfc counters --history: how long ports were paused",
		command: regexp.MustCompile(`^(?:show pfc counters|pfcstat)\s+.*--history\b`),
		head:    regexp.MustCompile(`^\s*Port\s+Priority\s+RX Pause Transitions\b`),
		read:    readPFCHistory, write: writePFCHistory},
	{Name: "sonic-pfc", System: "sonic", About: "show pfc counters: pause frames by priority",
		Command: "show pfc counters",
		command: regexp.MustCompile(`^(?:show pfc counters|pfcstat)\b`),
		head:    regexp.MustCompile(`^\s*Port [RT]x\s+PFC0\s+PFC1\b`),
		read:    sonicRows(rowPFC), write: writeSonicPFC},
	{Name: "sonic-pfc-priority", System: "sonic",
		About:   "show pfc priority: the priorities for which ports run PFC",
		Command: "show pfc priority",
		command: regexp.MustCompile(`^(?:show pfc priority|pfc show priority)\b`),
		head:    regexp.MustCompile(`^\s*Interface\s+Lossless priorities\s*$`),
		read:    sonicRows(rowPFCPriority), write: writePFCPriority},
	{Name: "sonic-queue", System: "sonic", About: "show queue counters: packets, bytes, drops by queue",
		Command: "show queue counters",
		command: regexp.MustCompile(`^(?:show queue counters|queuestat)\b`),
		head:    regexp.MustCompile(`^\s+Port\s+TxQ\s+Counter/pkts\s+Counter/bytes\s+Drop/pkts`),
		read:    sonicRows(rowQueue), write: writeSonicQueue},
	{Name: "sonic-wred", System: "sonic", About: "show queue wredcounters: ECN marks by queue",
		Command: "show queue wredcounters",
		command: regexp.MustCompile(`^(?:show queue wredcounters|wredstat)\b`),
		head:    regexp.MustCompile(`^\s*Port\s+TxQ\s+WredDrp/pkts`),
		read:    sonicRows(rowWred), write: writeSonicWred},
	{Name: "sonic-watermark", System: "sonic", About: "show queue watermark unicast: most bytes by queue",
		Command: "show queue watermark unicast",
		command: regexp.MustCompile(`^show queue (?:persistent-)?watermark unicast\b`),
		head:    regexp.MustCompile(`^Egress shared pool occupancy per unicast queue`),
		read:    sonicRows(rowGauge("UC", func(p *Port, i int) *Count { return &p.Queues[i].Peak })),
		write: writeSonicEight("Egress shared pool occupancy per unicast queue:", "UC",
			func(p *Port, i int) *Count { return &p.Queues[i].Peak })},
	{Name: "sonic-headroom", System: "sonic", About: "show priority-group watermark headroom",
		Command: "show priority-group watermark headroom",
		command: regexp.MustCompile(`^show priority-group (?:persistent-)?watermark headroom\b`),
		head:    regexp.MustCompile(`^Ingress headroom per PG`),
		read:    sonicRows(rowGauge("PG", func(p *Port, i int) *Count { return &p.Groups[i].HeadroomPeak })),
		write: writeSonicEight("Ingress headroom per PG:", "PG",
			func(p *Port, i int) *Count { return &p.Groups[i].HeadroomPeak })},
	{Name: "sonic-shared", System: "sonic", About: "show priority-group watermark shared",
		Command: "show priority-group watermark shared",
		command: regexp.MustCompile(`^show priority-group (?:persistent-)?watermark shared\b`),
		head:    regexp.MustCompile(`^Ingress shared pool occupancy per PG`),
		read:    sonicRows(rowGauge("PG", func(p *Port, i int) *Count { return &p.Groups[i].SharedPeak })),
		write: writeSonicEight("Ingress shared pool occupancy per PG:", "PG",
			func(p *Port, i int) *Count { return &p.Groups[i].SharedPeak })},
	{Name: "sonic-pg-drops", System: "sonic", About: "show priority-group drop counters",
		Command: "show priority-group drop counters",
		command: regexp.MustCompile(`^(?:show priority-group drop counters|pg-drop)\b`),
		head:    regexp.MustCompile(`^Ingress PG dropped packets`),
		read:    sonicRows(rowGauge("PG", func(p *Port, i int) *Count { return &p.Groups[i].DropPackets })),
		write: writeSonicEight("Ingress PG dropped packets:", "PG",
			func(p *Port, i int) *Count { return &p.Groups[i].DropPackets })},
	{Name: "sonic-fec", System: "sonic",
		About:   "show interfaces counters fec-stats: what FEC did not correct",
		Command: "show interfaces counters fec-stats",
		command: regexp.MustCompile(`^(?:show int\w* counters fec-stats|portstat\s+(?:.*\s)?(?:-f|--fec-stats))\b`),
		head:    regexp.MustCompile(`^\s*IFACE\s+STATE\s+FEC_CORR\b`),
		read:    sonicRows(rowInterface), write: writeSonicFEC},
	{Name: "sonic-errors", System: "sonic", About: "show interfaces counters errors",
		command: regexp.MustCompile(`^(?:show int\w* counters errors|portstat\s+(?:.*\s)?(?:-e|--errors))\b`),
		head:    regexp.MustCompile(`^\s*IFACE\s+STATE\s+RX_ERR\b`),
		read:    sonicRows(rowInterface), write: writeSonicErrors},
	{Name: "sonic-interfaces", System: "sonic", About: "show interfaces counters: packets, errors, drops",
		Command: "show interfaces counters",
		command: regexp.MustCompile(`^(?:show int\w* counters(?: rates\b.*|\s+-.*|\s*\|.*)?$|portstat\b)`),
		head:    regexp.MustCompile(`^\s*IFACE\s+STATE\s+RX_OK\b`),
		read:    sonicRows(rowInterface), write: writeSonicInterfaces},
	{Name: "sonic-watchdog", System: "sonic", About: "show pfcwd stats: storms by queue",
		Command: "show pfcwd stats",
		command: regexp.MustCompile(`^(?:show pfcwd|pfcwd show) stats\b`),
		head:    regexp.MustCompile(`^\s*QUEUE\s+STATUS\s+STORM DETECTED/RESTORED`),
		read:    sonicRows(rowWatchdog), write: writeSonicWatchdog},
	{Name: "sonic-db", System: "sonic", About: "COUNTERS_DB as JSON: sonic-db-dump, redis-dump -d 2",
		Command: "sonic-db-dump -n COUNTERS_DB -y",
		command: regexp.MustCompile(`^(?:sonic-db-dump|redis-dump)\b`),
		head:    regexp.MustCompile(`^\s*\{\s*$`),
		read:    readSonicDB, write: writeSonicDB},
	{Name: "sonic-lldp", System: "sonic", About: "show lldp table",
		Command: "show lldp table",
		command: regexp.MustCompile(`^show lldp table\b`),
		head:    regexp.MustCompile(`^LocalPort\s+RemoteDevice\s+RemotePortID`),
		read:    sonicRows(rowLLDP), write: writeSonicLLDP},
}

// sonicRows parses tables with a function that parses a row under its headings and returns its error.
func sonicRows(row func(r *reading, t *table, cells []string, l line) (wrong string)) func(*reading) {
	return func(r *reading) {
		var t table
		for i, l := range r.lines {
			following := ""
			if i+1 < len(r.lines) {
				following = r.lines[i+1].text
			}
			cells := t.next(l, following)
			if t.skewed && !r.format.is(l.text) {
				r.not(l, "has words that are not below the headings")
			}
			if cells == nil || r.format.is(l.text) {
				continue
			}
			if cells[0] == "" {
				r.not(l, "names no interface")
			} else if wrong := row(r, &t, cells, l); wrong != "" {
				r.not(l, "%s", wrong)
			}
		}
	}
}

// take stores cells in counters, in order; nil counters skip a cell.
func take(cells []string, l line, to ...*Count) (wrong string) {
	if len(cells) < len(to) {
		return "has fewer columns than the headings"
	}
	if cells[len(cells)-1] == "" {
		return "has an empty last column: its cells may belong to other headings"
	}
	for i, c := range to {
		n, ok := number(cells[i], l)
		if !ok {
			if wrong = "has " + quote(cells[i]) + " where a counter is expected"; tooLarge(cells[i]) {
				wrong = quote(cells[i]) + " is more than a counter of 64 bits holds: it is not taken"
			}
			continue
		}
		if c != nil && n.Is {
			*c = n
		}
	}
	return wrong
}
