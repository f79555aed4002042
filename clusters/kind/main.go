package kind

import (
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/creation"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
)

// NodeImages chooses the node image of a version. The zero value uses an image that the engine already has, first the
// kind project's, then our own. Default: the kind project's.
type NodeImages = images.NodeImages

// Main has kind make a cluster if the program's arguments ask for it, and then does not return. Every program that
// makes kind clusters of several control planes must call it first.
func Main() { creation.Main() }
