package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/unit"
)

// CC is the block of congestion control: the algorithm, and a block for each algorithm with parameters. It points
// to a struct whose type is built from cc's registry. A new algorithm's parameters thus get keys, a schema, bounds
// and --set without code here.
//
// A named parameter overrides the profile's, even at zero. In a resolved file all are set.
type CC any

// newCC returns the default block.
func newCC(algorithm string) CC {
	p := reflect.New(ccType)
	member(p.Elem(), "algorithm").SetString(algorithm)
	for _, name := range cc.Names() {
		if a := cc.Lookup(name); len(a.Profiles) > 0 {
			member(member(p.Elem(), name), "profile").SetString(a.Profiles[0].Name)
		}
	}
	return p.Interface()
}

// ccType is the struct of a CC, with the tags that a written struct would have.
var ccType = func() reflect.Type {
	keys := []reflect.StructField{key(0, reflect.TypeFor[string](), "algorithm", "controller of every sender",
		cc.Names())}
	for _, name := range cc.Names() {
		if a := cc.Lookup(name); len(a.Profiles) > 0 {
			keys = append(keys, key(len(keys), paramsType(a), name, "parameters of "+a.Title, nil))
		}
	}
	return reflect.StructOf(keys)
}()

// paramsType is the struct of an algorithm's parameters.
func paramsType(a *cc.Algorithm) reflect.Type {
	var names, docs []string
	for _, p := range a.Profiles {
		names, docs = append(names, p.Name), append(docs, p.Name+": "+p.Doc)
	}
	keys := []reflect.StructField{key(0, reflect.TypeFor[string](), "profile",
		strings.Join(docs, "; "), names)}
	for _, p := range a.Params {
		keys = append(keys, key(len(keys), reflect.PointerTo(p.Kind.Type()), p.Name, p.Doc, nil))
	}
	return reflect.StructOf(keys)
}

// key is one field of such a struct.
func key(n int, t reflect.Type, name, doc string, enum []string) reflect.StructField {
	tag := fmt.Sprintf("yaml:%q doc:%s", name, strconv.Quote(doc))
	if enum != nil {
		tag += fmt.Sprintf(" enum:%q", strings.Join(enum, ","))
	}
	return reflect.StructField{Name: fmt.Sprintf("Key%d", n), Type: t, Tag: reflect.StructTag(tag)}
}

// foreign returns the algorithm that owns an unknown key below cc.ALGORITHM, if any.
func foreign(key string) string {
	if of := ownerOf(key); of != "" {
		return of
	}
	below, ok := strings.CutPrefix(key, "cc.")
	algorithm, name, deep := strings.Cut(below, ".")
	if !deep {
		algorithm, name = "", below
	}
	if of := cc.Owner(name, algorithm); ok && of != nil {
		return ", it is a parameter of " + of.Title + " (cc." + of.Name + "." + name + ")"
	}
	return ""
}

// ccBounds are the rows of the table of bounds for the parameters of all algorithms.
func ccBounds() (rows []bound) {
	for _, name := range cc.Names() {
		rows = append(rows, paramBounds("cc."+name+".", cc.Lookup(name).Params)...)
	}
	return rows
}

// cc returns the struct of the block.
func (f *File) cc() reflect.Value { return reflect.ValueOf(f.CC).Elem() }

// SetCC sets a parameter of an algorithm to a value of the parameter's kind.
func (f *File) SetCC(algorithm, param string, value any) {
	p := reflect.New(reflect.TypeOf(value))
	p.Elem().Set(reflect.ValueOf(value))
	member(member(f.cc(), algorithm), param).Set(p)
}

// Service is the treatment of connections: the class of their packets, and the congestion control of their senders. A
// file describes one, in its transport and cc blocks.
type Service struct {
	Name          string
	DSCP, CNPDSCP int           // DSCP of data and ACKs, and of CNPs
	AcksFirst     bool          // ACKs use the class of CNPs
	CC            *cc.Algorithm // of every sender
	Values        cc.Values     // parameters at the line rate of the first server's NICs
	// At returns the parameters at another line rate; nil if they do not depend on it.
	At    func(line unit.Rate) cc.Values
	Words string // description for the report's head

	Follows bool // a job's own, with the file's congestion control

	*Carried // nil: its connections use RC
}

// services returns the file's service and its jobs' services. congestion sets their parameters.
func (f *File) services() []Service {
	own := Service{Name: DefaultService, DSCP: f.Transport.DataDSCP, CNPDSCP: f.Transport.CNPDSCP,
		AcksFirst: f.Transport.Acks == "cnp",
		CC:        cc.Lookup(member(f.cc(), "algorithm").String())}
	all := []Service{own}
	for i := range f.Jobs {
		s := own
		s.Name = f.Jobs[i].service()
		if slices.ContainsFunc(all, func(o Service) bool { return o.Name == s.Name }) {
			continue
		}
		if d := f.Jobs[i].DSCP; d != nil {
			s.DSCP = *d
		}
		s.Follows = f.Jobs[i].CC == ""
		if !s.Follows {
			s.CC = cc.Lookup(f.Jobs[i].CC)
		}
		all = append(all, s)
	}
	if f.Storage != nil && f.Storage.DSCP != nil && *f.Storage.DSCP != own.DSCP {
		s := own
		s.Name, s.DSCP, s.Follows = storageService, *f.Storage.DSCP, true
		all = append(all, s)
	}
	return all
}

// congestion resolves the block, for every service.
func (p *resolver) congestion() error {
	for i := range p.Services {
		if err := p.control(&p.Services[i]); err != nil {
			return err
		}
	}
	p.unheard()
	return nil
}

// control finds the values of a service's algorithm.
func (p *resolver) control(s *Service) error {
	line := p.Line(0)
	if len(s.CC.Profiles) == 0 {
		s.Words = s.CC.Words
		if s.Carried != nil && s.Carried.Own {
			s.Words = "congestion control of " + s.Carried.Title
		}
		return nil
	}
	block := member(p.File.cc(), s.CC.Name)
	if !p.says("cc." + s.CC.Name + ".profile") {
		member(block, "profile").SetString(s.CC.Fitting(p.features(s)).Name)
	}
	profile := s.CC.Profile(member(block, "profile").String())
	s.Values = profile.Of(line)
	own, said := 0, cc.Values{}
	key := "cc." + s.CC.Name + "."
	for _, par := range s.CC.Params {
		value, differs := settle(s.Values[par.Name], member(block, par.Name))
		if differs {
			own++
			said[par.Name] = value
		}
		s.Values[par.Name] = value
	}
	slowest, _ := p.lines()
	for _, par := range s.CC.Params {
		if rate, ok := said[par.Name].(unit.Rate); ok && par.Line && rate > slowest {
			return field.New(key+par.Name, "%v is above the line rate of %v", rate, slowest)
		}
	}
	if s.CC.Check != nil {
		if param, fault := s.CC.Check(s.Values); fault != "" {
			return field.New(key+param, "%s", fault)
		}
	}
	s.At = func(line unit.Rate) cc.Values {
		v := profile.Of(line)
		maps.Copy(v, said)
		return v
	}
	s.Words = fmt.Sprintf(profile.Words, p.lineWords())
	if own > 0 {
		s.Words += fmt.Sprintf(", %d of its values set otherwise", own)
	}
	return p.notified(s, profile.Of(line))
}

// lineWords describes the NICs' rates, for a sentence.
func (p *resolver) lineWords() string {
	low, high := p.lines()
	if low == high {
		return low.String()
	}
	return fmt.Sprintf("each NIC's rate, %v to %v", low, high)
}

// lines returns the rates of the slowest and of the fastest NIC.
func (p *resolver) lines() (low, high unit.Rate) {
	low, high = p.Line(0), p.Line(0)
	for i := range p.Graph.NICs {
		line := p.Line(i)
		low, high = min(low, line), max(high, line)
	}
	return low, high
}

// Line returns the line rate of a NIC's queue pair: a port's rate, or the sum of all ports if packets are sprayed
// over them, as for protocols other than RC.
func (p *Plan) Line(nic int) (line unit.Rate) {
	links := p.Graph.NICs[nic].Links
	line = p.Graph.Links[links[0]].Rate
	if p.NICs.Bond == "spray" || p.Default().Carried != nil {
		line *= unit.Rate(len(links))
	}
	return line
}

// settle replaces a profile's values by the file's, and stores the result in the file as part of the resolved
// values. It reports whether the two differ.
func settle(value any, said reflect.Value) (held any, differs bool) {
	if !said.IsNil() {
		held = said.Elem().Interface()
		return held, held != value
	}
	said.Set(reflect.New(said.Type().Elem()))
	said.Elem().Set(reflect.ValueOf(value))
	return value, false
}
