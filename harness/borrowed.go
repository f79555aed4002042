package harness

import "github.com/rehearse-dev/rehearse/clusters"

// Borrower is a Provider of a cluster that is somebody else's: it neither creates nor deletes it.
type Borrower interface {
	// Borrowed names the cluster for a person: "cluster prod (context admin)".
	Borrowed() string
}

// borrowedFrom names the provider's cluster where it is somebody else's.
func borrowedFrom(provider clusters.Provider) (name string, borrowed bool) {
	b, borrowed := provider.(Borrower)
	if !borrowed {
		return "", false
	}
	return b.Borrowed(), true
}
