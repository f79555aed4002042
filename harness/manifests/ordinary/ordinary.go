// Package ordinary has objects that are typical for clusters, for a rehearsal without the user's own manifests.
package ordinary

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Files are the manifests: objects in the shapes of well-kept public charts, at least one of each kind that they use.
func Files() fs.FS { return files }
