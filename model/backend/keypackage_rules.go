package backend

import (
	"fmt"
	"slices"
	"time"

	"assay/model"
)

// packageWitness is that a sound key package was accepted.
const packageWitness = "publish:key package"

// packages is what a history tells of key packages.
type packages struct {
	// accepted and refused are the cipher suites of sound packages that were.
	accepted, refused map[uint16]bool
	// stored is when an answer first proved an envelope stored, made the first
	// time that a call carried it.
	stored map[envelopeKey]int
	made   map[envelopeKey]time.Duration
	// judged are the packages of a publish that may be refused or not.
	open map[*publication]map[int]bool
}

// The suites of which everybody must take one (RFC 9420, section 17.1; the
// specification names none).
const (
	mandatorySuite = 1
	usualSuite     = 3
)

// suite is the cipher suite of the intent.
func (k *KeyPackageIntent) suite() uint16 {
	if k.Suite == 0 {
		return usualSuite
	}
	return k.Suite
}

// sound reports a package that everybody must accept, as far as it tells by itself.
func (k *KeyPackageIntent) sound() bool {
	current := k.Lifetime == Current || k.Lifetime == BegunJustNow || k.Lifetime == EndsSoon
	return k.Flaw == SoundPackage && k.Variant == OrdinaryPackage && current && (k.suite() == usualSuite || k.suite() == mandatorySuite)
}

// refusal is what the specification says of a flawed package: which assertion
// accepting it breaches, and the reasons it may be refused with. For one that
// decodes with bytes left over, or whose key is no installation's, the
// specification names no reason.
func (f KeyPackageFlaw) refusal() (model.Assertion, reasonSet) {
	switch {
	case f.Undecodable():
		return malformedRefused, malformedOnly
	case f == PackageTrailing, f == PackageTwice, f.NoTopic():
		return packageRefused, malformedOnly | packageOnly
	default:
		return packageRefused, packageOnly
	}
}

// packageDefects is what is wrong with a key package whatever the history (API-040, 042).
func (j *judge) packageDefects(i int, s Sent) []defect {
	k := s.Intent.Package
	if k == nil || s.Intent.Flaw != Sound || k.Flaw == SoundPackage {
		return nil
	}
	breaks, reasons := k.Flaw.refusal()
	d := defect{kind: validationDefect, index: i, breaks: []model.Assertion{breaks}, reasons: reasons.list(), certain: true,
		reasonOf: packageReason, needs: packageWitness, loose: reasons != packageOnly, what: fmt.Sprintf("envelope %d: %s", i, k.Flaw)}
	if k.Flaw.Undecodable() {
		d.kind, d.loose, d.reasonOf = parseDefect, false, malformedReason
	}
	return []defect{d}
}

// packages surveys the key packages of a history, and finds those of which no
// sentence of the specification says whether they are accepted.
func (j *judge) surveyPackages(order []*exchange) {
	d := &packages{accepted: make(map[uint16]bool), refused: make(map[uint16]bool), stored: make(map[envelopeKey]int), made: make(map[envelopeKey]time.Duration), open: make(map[*publication]map[int]bool)}
	j.packages = d
	for _, x := range order {
		p := j.pubs[x]
		if p == nil {
			continue
		}
		for i, s := range p.request() {
			if s.Intent.Package == nil {
				continue
			}
			if _, ok := d.made[keyOf(s)]; !ok {
				d.made[keyOf(s)] = j.events[x.invoked].At
			}
			d.learn(p, i, s)
		}
	}
	if len(d.made) == 0 {
		return
	}
	for _, x := range order {
		p := j.pubs[x]
		if p == nil {
			continue
		}
		for i, s := range p.request() {
			if s.Intent.Package == nil || s.Intent.Flaw != Sound || s.Intent.Package.Flaw != SoundPackage {
				continue
			}
			if what, open := j.openPackage(p, s); open {
				if d.open[p] == nil {
					d.open[p] = make(map[int]bool)
				}
				d.open[p][i] = true
				p.defects = append(p.defects, defect{kind: validationDefect, index: i, breaks: []model.Assertion{packageAccepted}, what: what, loose: true})
			}
		}
	}
}

// learn takes which suites a subject accepts, and what it stored.
func (d *packages) learn(p *publication, i int, s Sent) {
	if !p.answered() {
		return
	}
	k, r := s.Intent.Package, p.answer
	switch {
	case r.Code == OK:
		if at, ok := d.stored[keyOf(s)]; !ok || p.returned < at {
			d.stored[keyOf(s)] = p.returned
		}
		if k.sound() {
			d.accepted[k.suite()] = true
		}
	case r.Code == InvalidArgument && k.sound():
		pointed := len(r.Details) > 0 && r.Details[0].Index != nil && int64(*r.Details[0].Index) == int64(i)
		if pointed || len(p.request()) == 1 {
			d.refused[k.suite()] = true
		}
	}
}

// openPackage says why a package without a flaw may be refused, if it may.
func (j *judge) openPackage(p *publication, s Sent) (string, bool) {
	d, k := j.packages, s.Intent.Package
	if at, ok := d.stored[keyOf(s)]; ok && at < p.invoked {
		return "", false // a duplicate succeeds whatever is said of it now (API-035)
	}
	const old = time.Minute
	switch {
	case k.Variant != OrdinaryPackage:
		return "a key package: " + string(k.Variant), true
	case !k.sound() && k.Lifetime == Current:
		return fmt.Sprintf("a package of suite %d", k.suite()), true
	case !k.sound():
		return "a package that " + string(k.Lifetime), true
	case k.Lifetime == EndsSoon && j.events[p.invoked].At-d.made[keyOf(s)] > old:
		return "a package that ended meanwhile", true
	case !j.registered(p, k):
		return "a package of an installation whose inbox may not have it", true
	case d.accepted[k.suite()]:
		return "", false
	case d.refused[mandatorySuite] && d.refused[usualSuite] && !d.accepted[mandatorySuite] && !d.accepted[usualSuite]:
		return "", false
	default:
		return fmt.Sprintf("a package of suite %d alone", k.suite()), true
	}
}

// registered reports whether the inbox that a package names certainly had its
// installation as a member while the publish ran.
func (j *judge) registered(p *publication, k *KeyPackageIntent) bool {
	b := j.identity.named[k.Inbox]
	if b == nil || len(b.after) == 0 {
		return false
	}
	least, most := b.snapshots(p.exchange)
	for n := least; n <= most; n++ {
		for _, w := range b.expanded(n, p.returned, nil, j.conditions(p.exchange)) {
			if w.state.Unsure() || w.state.standing(identifier{party: k.Installation}) != present {
				return false
			}
		}
	}
	return true
}

// packagesStored records what the success of a publish shows of its key packages.
func (j *judge) packagesStored(p *publication) {
	for i, s := range p.request() {
		k := s.Intent.Package
		if k == nil || s.Artefact.Topic == "" {
			continue
		}
		needs := topicWitness(s.Artefact.Topic)
		t := j.topic(s.Artefact.Topic, s.Intent.Log)
		e := t.stored[s.Artefact.Identity]
		switch {
		case e == nil:
		case e.event < p.invoked:
			if top := t.head(p.invoked); top != nil && top != e && top.meta.Sequence > e.meta.Sequence {
				d := difference(e.meta, p.answer.Publish.Metas[i])
				j.check(d == "", packageKept, p.exchange, needs, "the metadata of a package that a later one followed", d, e.proof, e.event)
			}
			if k.Lifetime == EndsShortly && j.clock >= e.meta.ServerNS+uint64(36*time.Second) {
				j.held(staleDuplicate, p.exchange, "")
			}
		case j.packages.open[p][i]:
			j.openPackages(p, "accepts")
		case k.sound():
			j.witness(packageWitness)
			j.held(packageAccepted, p.exchange, needs)
			if j.justRegistered(p, k) {
				j.held(dependentPublish, p.exchange, needs)
			}
		}
	}
}

// openPackages remarks what a subject made of a package that it may refuse.
func (j *judge) openPackages(p *publication, verb string) {
	if len(p.request()) != 1 || len(j.packages.open[p]) == 0 {
		return
	}
	k := p.request()[0].Intent.Package
	basis := model.Companion
	if k.Variant != OrdinaryPackage && !k.Variant.written() {
		basis = model.Upstream
	}
	j.note(packageAccepted, basis, verb+" "+p.defects[0].what)
}

// written reports whether a companion specification says what becomes of the
// variant; of the others only one implementation does.
func (v KeyPackageVariant) written() bool {
	switch v {
	case Version0, Version2, XMTPShape, WrapperGarbage, CapabilitiesGrease, CredentialX509, CredentialUnknown, IdentityCut, IdentityWireType,
		IdentityUTF8, IdentityAddress, IdentityEmpty, IdentityNotHex, IdentityShort:
		return true
	default:
		return false
	}
}

// justRegistered reports whether the update that made the installation a member
// was the last to return before the publish began (API-017).
func (j *judge) justRegistered(p *publication, k *KeyPackageIntent) bool {
	b := j.identity.named[k.Inbox]
	if b == nil {
		return false
	}
	least, _ := b.snapshots(p.exchange)
	return least > 0 && !slices.ContainsFunc(b.after[least-1], func(w world) bool {
		return w.state.standing(identifier{party: k.Installation}) == present
	})
}

// statefulAcceptance names the requirement by which a refused identity update or
// key package must be accepted, where the refusal points at one.
func (j *judge) statefulAcceptance(p *publication) (model.Assertion, bool) {
	request, at := p.request(), 0
	if d := p.answer.Details; len(d) > 0 && d[0].Index != nil {
		at = int(min(int64(*d[0].Index), int64(len(request))))
	} else if len(request) != 1 {
		return model.Assertion{}, false
	}
	if at >= len(request) || !stateful(request[at]) {
		return model.Assertion{}, false
	}
	s := request[at]
	if s.Intent.Package == nil {
		return j.updateAcceptance(p, at)
	}
	t := j.topic(s.Artefact.Topic, s.Intent.Log)
	if e := t.stored[s.Artefact.Identity]; e != nil && e.event < p.invoked && s.Intent.Package.Lifetime == EndsShortly {
		return staleDuplicate, true
	}
	if a, ok := j.special(p, s, false); ok {
		return a, true
	}
	if t.head(p.invoked) != nil {
		return packageKept, true
	}
	return packageAccepted, true
}
