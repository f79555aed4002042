package planning

import "github.com/rehearse-dev/rehearse/clusters"

// BorrowedFrom returns the name of the provider's cluster if it is borrowed, not created by the provider.
func BorrowedFrom(provider clusters.Provider) (name string, borrowed bool) {
	b, borrowed := provider.(clusters.Borrower)
	if !borrowed {
		return "", false
	}
	return b.Borrowed(), true
}
