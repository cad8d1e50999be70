package run

import "assay/harness/subject"

// Instances is a Running that is more than one instance of a backend.
type Instances interface {
	// Others are the endpoints beside the first.
	Others() []subject.Endpoint
}

// others lists the further instances of a subject, if it has any.
func others(r Running) []subject.Endpoint {
	if i, ok := r.(Instances); ok {
		return i.Others()
	}
	return nil
}
