package planning

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// A definition is checked once in a plan, and its error is found again with each state.
func TestEachDefinitionIsCheckedOnce(t *testing.T) {
	crds := filepath.Join(t.TempDir(), "crds.yaml")
	system := clusters.System{Name: "a", Process: &clusters.SystemProcess{Command: []string{"true"}, CRDs: []string{crds}}}
	p := &planner{checked: systems.Checks{}, options: Options{Static: true}}
	path := []clusters.State{{Systems: []clusters.System{system}}}
	first := p.checkSystems(t.Context(), path)
	if first == nil {
		t.Fatal("a missing file is no error")
	}
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"
	if err := os.WriteFile(crds, []byte(crd), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := p.checkSystems(t.Context(), path); again == nil || again.Error() != first.Error() {
		t.Errorf("the second state: %v, want %v", again, first)
	}
	path[0].Systems[0].Name = "b"
	if other := p.checkSystems(t.Context(), path); other != nil {
		t.Errorf("another definition: %v", other)
	}
}
