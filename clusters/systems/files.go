package systems

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
)

// Files returns the files and folders on this machine with the objects that a system names: its
// CustomResourceDefinitions, its webhook configurations and its manifests. Those in the folder of a module are not
// among them: the version of the module determines them.
func Files(definition clusters.System) []string {
	named := definition.Manifests
	if p := definition.Launched(); p != nil {
		named = append(append([]string{}, p.CRDs...), p.Webhooks...)
	}
	expanded := versionOnly(definition, clusters.BuiltModule{})
	var files []string
	for _, text := range named {
		text, known := expanded(text)
		name, _, err := documents.SplitChecksum(text)
		if known && err == nil && !clusters.IsAddress(name) {
			files = append(files, name)
		}
	}
	return files
}
