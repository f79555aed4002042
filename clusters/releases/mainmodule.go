package releases

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/rehearse-dev/rehearse/clusters"
)

// writeMainModule writes the go.mod of a temporary main module that builds the programs of k8s.io/kubernetes.
func writeMainModule(path, kubernetesGoMod string, v clusters.Version) error {
	data, err := os.ReadFile(kubernetesGoMod)
	if err != nil {
		return err
	}
	main, err := mainModule(kubernetesGoMod, data, v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, main, 0o644)
}

// mainModule creates that go.mod from the one of k8s.io/kubernetes. It requires that module, and copies its go line
// and its GODEBUG defaults, which Go reads only from the main module. Modules of the Kubernetes repository
// (./staging/...) are not part of the published module, so it replaces each by its own release: v0.34.4 for 1.34.4.
func mainModule(name string, kubernetes []byte, v clusters.Version) ([]byte, error) {
	k, err := modfile.Parse(name, kubernetes, nil)
	if err != nil {
		return nil, err
	}
	if k.Go == nil {
		return nil, fmt.Errorf("%s has no go line", name)
	}
	main := new(modfile.File)
	steps := []error{main.AddModuleStmt("rehearse.invalid/build"), main.AddGoStmt(k.Go.Version)}
	for _, g := range k.Godebug {
		steps = append(steps, main.AddGodebug(g.Key, g.Value))
	}
	steps = append(steps, main.AddRequire(kubernetesModule, "v"+v.String()))
	staged := 0
	for _, r := range k.Replace {
		switch {
		case strings.HasPrefix(r.New.Path, "./staging/"):
			staged++
			steps = append(steps, main.AddReplace(r.Old.Path, r.Old.Version, r.Old.Path, stagingVersion(v)))
		case r.New.Version != "":
			steps = append(steps, main.AddReplace(r.Old.Path, r.Old.Version, r.New.Path, r.New.Version))
		default:
			return nil, fmt.Errorf("%s replaces %s by the folder %s, which is not in the published module", name, r.Old.Path,
				r.New.Path)
		}
	}
	for _, err := range steps {
		if err != nil {
			return nil, err
		}
	}
	if staged == 0 {
		return nil, fmt.Errorf("%s replaces no module by a folder of ./staging, as every Kubernetes release does", name)
	}
	return main.Format()
}

// stagingVersion returns the version of k8s.io/api and similar modules for a Kubernetes version.
func stagingVersion(v clusters.Version) string {
	return fmt.Sprintf("v0.%d.%d%s", v.Minor, v.Patch, v.Pre)
}
