package clusters

// Footprint is what one cluster takes of this machine.
type Footprint struct {
	// Memory in bytes, at most.
	Memory int64
	// Only: there can be no second one at the same time.
	Only bool
}

// Sizer is a Provider that knows what its clusters take, so that as many run at once as there is room for.
type Sizer interface {
	// Footprint of a cluster on its way through these states.
	Footprint(path []State) Footprint
}
