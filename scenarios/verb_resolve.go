package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func resolveVerb() verb {
	return verb{
		name: "resolve", ownExpect: true,
		reads:   onlyReads,
		about:   func(s *Step) string { return s.Resolve.Name },
		check:   func(v *validator, c stepCheck) { checkResolve(v, c.step.Resolve, c.node) },
		results: []string{"answers"},
		within:  func(s *Step) *Duration { return &copied(&s.Resolve).Within },
	}
}

// Resolve is a question to the cluster's DNS, repeated until the answer is as expected or time is up.
type Resolve struct {
	// Name to resolve, absolute: web.${namespace}.svc.cluster.local.
	Name string `json:"name" filled:"true"`
	// Type of the record: A, AAAA, SRV, PTR, CNAME, TXT. Default: A.
	Type string `json:"type,omitempty" fixed:"true"`
	// Within is the maximum time until the expected answer. Default: the step's timeout.
	Within Duration `json:"within,omitempty"`
	// Expect is the expected answer. Default: at least one record.
	Expect *ResolveExpect `json:"expect,omitempty"`
}

// ResolveExpect is the expected answer of the DNS.
type ResolveExpect struct {
	// Rcode of the answer: NOERROR, NXDOMAIN and others. Default: NOERROR.
	Rcode string `json:"rcode,omitempty" fixed:"true"`
	// Count of records of the requested type.
	Count *Count `json:"count,omitempty"`
	// Answers that the records must include: an address, a target, "priority weight port target" for SRV.
	Answers []string `json:"answers,omitempty"`
}

func checkResolve(v *validator, r *Resolve, n *yamltree.Node) {
	v.present(r.Name, n, "name")
	v.OneOf(r.Type, []string{"A", "AAAA", "SRV", "PTR", "CNAME", "TXT"}, n.At("type"), "type of record")
	e := r.Expect
	if e == nil {
		return
	}
	at := n.Get("expect")
	if e.Rcode == "" && e.Count == nil && len(e.Answers) == 0 {
		v.At(at, "give rcode, count or answers", "expect is empty")
	}
	v.notEmpty(at, "answers")
	v.OneOf(e.Rcode, []string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"}, at.At("rcode"), "rcode")
	checkCount(v, e.Count, at.At("count"))
	if e.Count != nil && e.Count.All {
		v.At(at.At("count"), "", "\"all\" is not supported here")
	}
	if e.Rcode != "" && e.Rcode != "NOERROR" && len(e.Answers) > 0 {
		v.At(at.At("answers"), "", "an answer with the rcode %s has no records", e.Rcode)
	}
}
