package planning

import "github.com/rehearse-dev/rehearse/clusters"

// BorrowedFrom names the provider's cluster where it is somebody else's.
func BorrowedFrom(provider clusters.Provider) (name string, borrowed bool) {
	b, borrowed := provider.(clusters.Borrower)
	if !borrowed {
		return "", false
	}
	return b.Borrowed(), true
}
