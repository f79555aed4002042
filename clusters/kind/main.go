package kind

import (
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/creation"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
)

// NodeImages says which node image a version has. The zero value has those that the engine has already, the kind
// project's before our own. Default: the kind project's.
type NodeImages = images.NodeImages

// Main has kind make a cluster if the program's arguments say so, and then does not return. Every program that makes
// kind clusters of several control planes calls it first.
func Main() { creation.Main() }
