// Package ordinary has objects as most clusters have them, for a rehearsal without manifests of one's own.
package ordinary

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Files are the manifests: objects in the shapes of well-kept public charts, at least one of each kind that they use.
func Files() fs.FS { return files }
