package clusters

// BrokenError says that a component is not what a state wants of it: it ended by itself, or did not become ready in
// all the time that is far more than it takes.
type BrokenError struct {
	// Component that is to blame: not one that only waits for another. It may be a system (SystemComponent).
	Component Component
	// Words are the component's own: what it last answered when asked whether it is ready, and the end of its log.
	Words string
	// Err is what a person reads.
	Err error
}

// SystemComponent is what a system that is a process is called among components.
func SystemComponent(name string) Component { return Component("system " + name) }

func (e *BrokenError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// Breakage takes an error of Converge apart: into the components that it calls broken, and all else that it says.
func Breakage(err error) (broken []*BrokenError, other []error) {
	switch err := err.(type) { //nolint:errorlint // it is taken apart here
	case nil:
		return nil, nil
	case *BrokenError:
		return []*BrokenError{err}, nil
	case interface{ Unwrap() []error }:
		for _, part := range err.Unwrap() {
			b, o := Breakage(part)
			broken, other = append(broken, b...), append(other, o...)
		}
		return broken, other
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			if broken, other = Breakage(inner); len(broken) > 0 {
				return broken, other
			}
		}
	}
	return nil, []error{err}
}
